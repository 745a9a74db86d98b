"""Qdrant's own engine, as it ships for Python, behind those calls of Qdrant's REST interface that the index makes.

A stand-in for a server where none can be had: what is stored, scored and found is Qdrant's; HTTP, aliases and waiting
are not. One shard, no copies, nothing kept. Needs: pip install qdrant-edge-py
Usage: python3 engine-server.py PORT
"""

import json
import shutil
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import qdrant_edge as edge

# Points after which segments are rewritten and graphs are built, as a server does by itself.
OPTIMISED_AFTER = 2_000
MEMORY = {"cold": edge.Memory.Cold, "cached": edge.Memory.Cached, "pinned": edge.Memory.Pinned}
INDEXES = {"keyword": edge.KeywordIndexParams, "float": edge.FloatIndexParams}
COMPLETED = {"operation_id": 1, "status": "completed"}

root = Path(tempfile.mkdtemp(prefix="qdrant-engine-"))
collections = {}
aliases = {}
lock = threading.Lock()


class Refusal(Exception):
    def __init__(self, status, words):
        super().__init__(words)
        self.status = status


class Collection:
    def __init__(self, name, body):
        self.path = root / name
        self.metadata = body.get("metadata")
        self.strict = {}
        self.changes = 0
        self.indexes = {}
        self.shard = edge.EdgeShard.create(str(self.path), configuration(body))

    def index(self, body):
        most = self.strict.get("max_payload_index_count")
        if most is not None and len(self.indexes) >= most:
            raise Refusal(
                400,
                f"Bad request: Collection already has the maximum number of payload indices ({most}). "
                "Help: Please delete an existing index before creating a new one.",
            )
        schema = body["field_schema"]
        parameters = INDEXES[schema["type"]](memory=MEMORY[schema["memory"]])
        self.shard.update(edge.UpdateOperation.create_field_index(body["field_name"], parameters))
        self.indexes[body["field_name"]] = {"data_type": schema["type"], "points": 0}
        return COMPLETED

    def put(self, points):
        self.shard.update(edge.UpdateOperation.upsert_points([to_point(point) for point in points]))
        self.changes += len(points)
        if self.changes >= OPTIMISED_AFTER:
            self.shard.optimize()
            self.changes = 0
        return COMPLETED

    def set_payload(self, body):
        self.shard.update(
            edge.UpdateOperation.overwrite_payload_by_filter(to_filter(body), body["payload"])
        )
        return COMPLETED

    def limit(self, body):
        self.strict = body["strict_mode_config"]
        return True

    def remove(self, keys):
        self.shard.update(edge.UpdateOperation.delete_points(keys))
        return COMPLETED

    def scroll(self, body):
        request = edge.ScrollRequest(limit=body["limit"], offset=body.get("offset"))
        records, following = self.shard.scroll(request)
        return {"points": [{"id": record.id} for record in records], "next_page_offset": following}

    def retrieve(self, body):
        records = self.shard.retrieve(body["ids"], with_payload=False, with_vector=body["with_vector"])
        return [{"id": record.id, "vector": to_named(record.vector)} for record in records]

    def query(self, body):
        request = edge.QueryRequest(
            limit=body["limit"],
            offset=body.get("offset", 0),
            query=to_query(body),
            filter=to_filter(body),
            params=to_parameters(body),
        )
        found = self.shard.query(request)
        return {"points": [to_match(each) for each in found]}

    def drop(self):
        self.shard.close()
        shutil.rmtree(self.path, ignore_errors=True)


def configuration(body):
    vectors = {
        name: edge.EdgeVectorParams(
            size=each["size"], distance=edge.Distance.Cosine, memory=MEMORY[each["memory"]]
        )
        for name, each in body["vectors"].items()
    }
    sparse = {
        name: edge.EdgeSparseVectorParams(
            modifier=edge.Modifier.Idf if each.get("modifier") == "idf" else None,
            memory=MEMORY[each["index"]["memory"]]
        )
        for name, each in body.get("sparse_vectors", {}).items()
    }
    threshold = body.get("hnsw_config", {}).get("full_scan_threshold", 10_000)
    return edge.EdgeConfig(
        vectors=vectors or None,
        hnsw_config=edge.HnswIndexConfig(m=16, ef_construct=100, full_scan_threshold=threshold),
        sparse_vectors=sparse or None,
        quantization_config=to_quantisation(body.get("quantization_config", {})),
    )


def to_quantisation(body):
    if "scalar" in body:
        quantile = body["scalar"]["quantile"]
        return edge.ScalarQuantizationConfig(type=edge.ScalarType.Int8, quantile=quantile)
    if "turbo" in body:
        return edge.TurboQuantQuantizationConfig(bits=edge.TurboQuantBitSize.Bits4)
    return None


def to_vector(value):
    if isinstance(value, dict):
        return edge.SparseVector(indices=value["indices"], values=value["values"])
    return value


def to_named(vectors):
    return {
        name: {"indices": list(value.indices), "values": list(value.values)}
        if isinstance(value, edge.SparseVector)
        else value
        for name, value in vectors.items()
    }


def to_match(point):
    return {"id": point.id, "version": 1, "score": point.score}


def to_point(body):
    vector = {name: to_vector(value) for name, value in body["vector"].items()}
    return edge.Point(id=body["id"], vector=vector, payload=body.get("payload") or {})


def to_query(body):
    return edge.Query.Nearest(to_vector(body["query"]), body["using"])


def to_filter(body):
    return to_condition(body["filter"]) if "filter" in body else None


def to_condition(body):
    if "has_id" in body:
        return edge.HasIdCondition(set(body["has_id"]))
    if "match" in body:
        match = body["match"]
        wanted = edge.MatchAny(match["any"]) if "any" in match else edge.MatchValue(match["value"])
        return edge.FieldCondition(body["key"], match=wanted)
    if "range" in body:
        return edge.FieldCondition(body["key"], range=edge.RangeFloat(**body["range"]))
    return edge.Filter(**{name: [to_condition(each) for each in part] for name, part in body.items()})


def to_parameters(body):
    if "params" not in body:
        return None
    params = body["params"]
    quantisation = params.get("quantization")
    return edge.SearchParams(
        quantization=edge.QuantizationSearchParams(**quantisation) if quantisation else None,
        acorn=edge.AcornSearchParams(**params.get("acorn", {})),
        exact=params.get("exact", False),
    )


def change_aliases(actions):
    for action in actions:
        if "delete_alias" in action:
            aliases.pop(action["delete_alias"]["alias_name"], None)
        else:
            created = action["create_alias"]
            aliases[created["alias_name"]] = created["collection_name"]
    return True


def create(name, body):
    if name in collections:
        raise Refusal(409, "already exists")
    collections[name] = Collection(name, body)
    return True


def drop(name):
    collection = collections.pop(name, None)
    for alias in [alias for alias, named in aliases.items() if named == name]:
        del aliases[alias]
    if collection:
        collection.drop()
    return collection is not None


CALLS = {
    ("GET", ""): lambda held, body: {
        "config": {"metadata": held.metadata, "strict_mode_config": held.strict},
        "payload_schema": held.indexes,
    },
    ("PATCH", ""): lambda held, body: held.limit(body),
    ("PUT", "index"): lambda held, body: held.index(body),
    ("PUT", "points"): lambda held, body: held.put(body["points"]),
    ("PUT", "points/payload"): lambda held, body: held.set_payload(body),
    ("POST", "points"): lambda held, body: held.retrieve(body),
    ("POST", "points/delete"): lambda held, body: held.remove(body["points"]),
    ("POST", "points/count"): lambda held, body: {
        "count": held.shard.count(edge.CountRequest(exact=True))
    },
    ("POST", "points/scroll"): lambda held, body: held.scroll(body),
    ("POST", "points/query"): lambda held, body: held.query(body),
}


def perform(method, path, body):
    if path == "/aliases":
        pairs = aliases.items()
        return {"aliases": [{"alias_name": alias, "collection_name": name} for alias, name in pairs]}
    if path == "/collections":
        return {"collections": [{"name": name} for name in collections]}
    if path == "/collections/aliases":
        return change_aliases(body["actions"])
    _, _, name, *rest = path.split("/")
    call = (method, "/".join(rest))
    if call == ("PUT", ""):
        return create(name, body)
    if call == ("DELETE", ""):
        return drop(name)
    held = collections.get(aliases.get(name, name))
    if held is None or call not in CALLS:
        raise Refusal(404, "not found")
    return CALLS[call](held, body)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def answer(self):
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        path = self.path.split("?")[0]
        if path == "/":
            self.send(200, {"title": "qdrant engine", "version": "1.19.0"})
            return
        try:
            with lock:
                result = perform(self.command, path, body)
            self.send(200, {"time": 0.0, "status": "ok", "result": result})
        except Refusal as refusal:
            self.send(refusal.status, {"time": 0.0, "status": {"error": str(refusal)}})
        except Exception as error:
            self.send(400, {"time": 0.0, "status": {"error": str(error)}})

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = answer


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    try:
        server.serve_forever()
    finally:
        shutil.rmtree(root, ignore_errors=True)
