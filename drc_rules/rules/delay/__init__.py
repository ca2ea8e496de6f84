"""Rules on delay: pairs and buses whose signals do not arrive together."""
