"""Published claims, and every attempt to measure them."""
