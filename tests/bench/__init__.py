"""Measures the service on this machine (`make bench`); it is no test, nothing here fails and pytest collects none."""
