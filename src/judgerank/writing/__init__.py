"""What commands write, and where they may."""
