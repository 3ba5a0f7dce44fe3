"""The part of the JSON Schema of SARIF 2.1.0 that duvet uses: what it doesn't use is not allowed here."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
URI: Schema = {"type": "string", "format": "uri"}
REFERENCE: Schema = {"type": "string", "format": "uri-reference"}
NUMBER: Schema = {"type": "integer", "minimum": 1}
INDEX: Schema = {"type": "integer", "minimum": -1}
LEVEL: Schema = {"enum": ["none", "note", "warning", "error"]}


def ref(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


def array(items: Schema, *, unique: bool = False, least: int = 0) -> Schema:
    return {"type": "array", "items": items, "uniqueItems": unique, "minItems": least}


def an_object(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": properties,
    }


DEFINITIONS: dict[str, Schema] = {
    "artifactChange": an_object(
        ("artifactLocation", "replacements"),
        artifactLocation=ref("artifactLocation"),
        replacements=array(ref("replacement"), least=1),
    ),
    "artifactContent": an_object(text=STRING),
    "artifactLocation": an_object(uri=REFERENCE, uriBaseId=STRING, description=ref("message")),
    "fix": an_object(
        ("artifactChanges",),
        description=ref("message"),
        artifactChanges=array(ref("artifactChange"), unique=True, least=1),
    ),
    "location": an_object(message=ref("message"), physicalLocation=ref("physicalLocation")),
    "message": an_object(("text",), text=STRING),
    "multiformatMessageString": an_object(("text",), text=STRING, markdown=STRING),
    "physicalLocation": an_object(
        ("artifactLocation", "region"), artifactLocation=ref("artifactLocation"), region=ref("region")
    ),
    "region": an_object(startLine=NUMBER, startColumn=NUMBER, endLine=NUMBER, endColumn=NUMBER),
    "replacement": an_object(("deletedRegion",), deletedRegion=ref("region"), insertedContent=ref("artifactContent")),
    "reportingConfiguration": an_object(level=LEVEL),
    "reportingDescriptor": an_object(
        ("id",),
        id=STRING,
        name=STRING,
        shortDescription=ref("multiformatMessageString"),
        fullDescription=ref("multiformatMessageString"),
        help=ref("multiformatMessageString"),
        defaultConfiguration=ref("reportingConfiguration"),
    ),
    # The schema asks for a message alone; the text of the standard asks for a rule, and those that read it for a place.
    "result": an_object(
        ("ruleId", "message", "locations"),
        ruleId=STRING,
        ruleIndex=INDEX,
        level=LEVEL,
        message=ref("message"),
        locations=array(ref("location"), least=1),
        relatedLocations=array(ref("location"), unique=True),
        partialFingerprints={"type": "object", "additionalProperties": STRING},
        fixes=array(ref("fix"), unique=True),
    ),
    "run": an_object(
        ("tool",),
        tool=ref("tool"),
        columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        originalUriBaseIds={"type": "object", "additionalProperties": ref("artifactLocation")},
        results=array(ref("result")),
    ),
    "tool": an_object(("driver",), driver=ref("toolComponent")),
    "toolComponent": an_object(
        ("name",),
        name=STRING,
        version=STRING,
        informationUri=URI,
        rules=array(ref("reportingDescriptor"), unique=True),
    ),
}
LOG: Schema = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "definitions": DEFINITIONS,
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "runs"],
    "properties": {"$schema": URI, "version": {"enum": ["2.1.0"]}, "runs": array(ref("run"))},
}
