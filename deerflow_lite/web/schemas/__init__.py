"""The shapes of what is asked and answered, one file a blueprint; they check shape, the rooms check meaning.

The same schemas validate, fill the records that views get, and make the OpenAPI document.
"""
