"""A few human votes as the anchor of a panel's many: scores on the human scale with valid intervals."""
