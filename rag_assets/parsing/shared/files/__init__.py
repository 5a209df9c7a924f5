"""Reading untrusted files safely: encoding, JSON and XML within limits."""
