from tests.cli.conftest import duvet, folder, kettle, ledger, reported, reported_once, tea, watch

__all__ = ["duvet", "folder", "kettle", "ledger", "reported", "reported_once", "tea", "watch"]
