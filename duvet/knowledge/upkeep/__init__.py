"""What keeps what is known of a project fed, safe and accounted for."""
