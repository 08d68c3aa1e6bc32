"""Methods that the papers compare with and the package does not offer."""
