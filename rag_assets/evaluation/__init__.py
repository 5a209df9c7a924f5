"""Results and expectations become metrics."""
