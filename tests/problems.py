from duvet.model import Place, Problem, Severity


def show_problem(problem: Problem) -> str:
    """Return `path:line:column+width code message [label]; hint (note)`, with everything except the fix."""
    kind = "" if problem.severity is Severity.ERROR else f"{problem.severity.value} "
    notes = "".join(f" ({_show(note.place)} {note.label})" for note in problem.notes)
    label = f" [{problem.label}]" if problem.label else ""
    hint = f"; {problem.hint}" if problem.hint else ""
    return f"{problem.path}{_show(problem.place)} {kind}{problem.code} {problem.message}{label}{hint}{notes}"


def _show(place: Place) -> str:
    column = f":{place.column}" if place.column else ""
    width = f"+{place.width}" if place.width != 1 else ""
    return f":{place.line}{column}{width}" if place != Place() else ""
