"""An app of Flower, for a test."""
