"""What the survival experiment is made of: SurvSet's sets converted, splits, methods and their figures."""
