"""The HTTP door: what is asked is checked, what is answered is shaped; no rule of the domain lives here."""
