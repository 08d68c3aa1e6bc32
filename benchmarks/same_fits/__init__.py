"""Whether two versions of the package learn the same: about 200 fits with each, compared. See README.md."""
