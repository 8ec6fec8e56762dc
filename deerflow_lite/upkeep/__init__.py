"""The care of the file: what is wrong in it, and what can be done; nothing here runs by itself."""
