arrive({ load: true, place: history.state });
