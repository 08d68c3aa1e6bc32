"""What selection_tables and selection_views share: the methods, and results that are kept run by run."""
