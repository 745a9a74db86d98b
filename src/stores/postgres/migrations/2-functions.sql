-- Each write of the authority is one call of one of these, and so one statement: it happens whole or not at all, and
-- no lock is ever held while a server is waited for.
--
-- Whoever changes a document locks its row first, before its job and its chunks; the row of `counts` comes last. What
-- is locked by `pg_advisory_xact_lock` comes before all of these. Errors of ours have codes that begin with AS.

CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql VOLATILE
  RETURN floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

-- What documents leave and enter, and what comes of chunks and jobs.
CREATE FUNCTION tally(a_left text, entered text, documents bigint, more_chunks bigint, more_jobs bigint)
RETURNS void LANGUAGE sql AS $$
  UPDATE counts SET
    pending = pending + documents * ((entered IS NOT DISTINCT FROM 'pending')::int - (a_left IS NOT DISTINCT FROM 'pending')::int),
    processing = processing + documents * ((entered IS NOT DISTINCT FROM 'processing')::int - (a_left IS NOT DISTINCT FROM 'processing')::int),
    ready = ready + documents * ((entered IS NOT DISTINCT FROM 'ready')::int - (a_left IS NOT DISTINCT FROM 'ready')::int),
    failed = failed + documents * ((entered IS NOT DISTINCT FROM 'failed')::int - (a_left IS NOT DISTINCT FROM 'failed')::int),
    chunks = chunks + more_chunks,
    jobs = jobs + more_jobs
  WHERE slot = pg_backend_pid() % 64
$$;

-- Far from the limit nobody waits for anybody: there are fewer connections than that which could add at the same time.
CREATE FUNCTION enter_queue(most bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT sum(jobs) FROM counts) + 1000 > most THEN PERFORM pg_advisory_xact_lock(1097302902, 1); END IF;
END $$;

CREATE FUNCTION refuse_when_full(most bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT sum(jobs) FROM counts) >= most THEN RAISE EXCEPTION 'the queue is full' USING ERRCODE = 'AS001'; END IF;
END $$;

CREATE FUNCTION keep_metadata(a_document bigint, facts text) RETURNS void LANGUAGE sql AS $$
  DELETE FROM metadata WHERE document = a_document;
  INSERT INTO metadata (document, name, kind, number, string)
  SELECT a_document, key, json_typeof(value),
    CASE json_typeof(value)
      WHEN 'number' THEN (value #>> '{}')::double precision
      WHEN 'boolean' THEN ((value #>> '{}')::boolean)::int
    END,
    CASE json_typeof(value) WHEN 'string' THEN value #>> '{}' END
  FROM json_each(facts::json) WHERE facts IS NOT NULL;
$$;

-- Gives a kept file to the revision that was made of it.
CREATE FUNCTION take_file(a_file bigint, a_document bigint, a_revision integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF a_file IS NULL THEN RETURN; END IF;
  UPDATE files SET document = a_document, revision = a_revision WHERE number = a_file AND document IS NULL;
  IF NOT FOUND THEN RAISE EXCEPTION 'there is no kept file %', a_file; END IF;
END $$;

CREATE FUNCTION enqueue(a_document bigint, a_revision integer, a_text text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE moment bigint := now_ms();
BEGIN
  INSERT INTO contents (document, revision, text) VALUES (a_document, a_revision, a_text);
  INSERT INTO jobs (document, revision, run_at, due_at) VALUES (a_document, a_revision, moment, moment)
  ON CONFLICT (document) DO UPDATE
    SET revision = a_revision, run_at = moment, due_at = moment, claim = NULL, owner = NULL;
END $$;

-- Nothing where there is a document with this id.
CREATE FUNCTION insert_document(
  a_id text, a_text text, a_characters integer, a_title text, a_url text, a_metadata text, a_file text,
  a_file_number bigint
) RETURNS documents LANGUAGE plpgsql AS $$
DECLARE
  added documents;
  moment bigint := now_ms();
BEGIN
  INSERT INTO documents (id, title, url, metadata, file, status, characters, created_at, updated_at)
  VALUES (a_id, a_title, a_url, a_metadata, a_file, 'pending', a_characters, moment, moment)
  ON CONFLICT (id) DO NOTHING RETURNING * INTO added;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF a_metadata IS NOT NULL THEN PERFORM keep_metadata(added.number, a_metadata); END IF;
  PERFORM enqueue(added.number, 1, a_text);
  PERFORM take_file(a_file_number, added.number, 1);
  RETURN added;
END $$;

CREATE FUNCTION add_document(
  a_id text, a_text text, a_characters integer, a_title text, a_url text, a_metadata text, a_file text,
  a_file_number bigint, a_key text, a_digest text, most bigint
) RETURNS documents LANGUAGE plpgsql AS $$
DECLARE
  added documents;
  known record;
BEGIN
  IF a_key IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(1097302903, hashtext(a_key));
    SELECT document, digest INTO known FROM idempotency_keys WHERE key = a_key;
    IF FOUND THEN
      IF known.digest <> a_digest THEN RAISE EXCEPTION 'another document' USING ERRCODE = 'AS002'; END IF;
      DELETE FROM files WHERE number = a_file_number AND document IS NULL;
      SELECT * INTO added FROM documents WHERE number = known.document;
      IF FOUND THEN RETURN added; END IF;
    END IF;
  END IF;
  PERFORM enter_queue(most);
  PERFORM refuse_when_full(most);
  added := insert_document(a_id, a_text, a_characters, a_title, a_url, a_metadata, a_file, a_file_number);
  IF added.number IS NULL THEN RAISE EXCEPTION 'there is such a document' USING ERRCODE = 'unique_violation'; END IF;
  IF a_key IS NOT NULL THEN
    INSERT INTO idempotency_keys (key, digest, document) VALUES (a_key, a_digest, added.number);
  END IF;
  PERFORM tally(NULL, 'pending', 1, 0, 1);
  RETURN added;
END $$;

CREATE FUNCTION put_document(
  a_id text, a_text text, a_characters integer, a_title text, a_url text, a_metadata text, a_file text,
  a_file_number bigint, most bigint
) RETURNS documents LANGUAGE plpgsql AS $$
DECLARE
  before documents;
  after documents;
  waits boolean;
BEGIN
  PERFORM enter_queue(most);
  SELECT * INTO before FROM documents WHERE id = a_id FOR UPDATE;
  IF NOT FOUND THEN
    PERFORM refuse_when_full(most);
    after := insert_document(a_id, a_text, a_characters, a_title, a_url, a_metadata, a_file, a_file_number);
    -- Added by another meanwhile: the caller comes again.
    IF after.number IS NULL THEN RAISE EXCEPTION 'added meanwhile' USING ERRCODE = 'serialization_failure'; END IF;
    PERFORM tally(NULL, 'pending', 1, 0, 1);
    RETURN after;
  END IF;
  waits := EXISTS (SELECT 1 FROM jobs WHERE document = before.number);
  IF NOT waits THEN PERFORM refuse_when_full(most); END IF;
  UPDATE documents
  SET revision = revision + 1, status = 'pending', attempts = 0, error_code = NULL, error_message = NULL,
    updated_at = now_ms()
  WHERE number = before.number RETURNING * INTO after;
  INSERT INTO replacements (document, title, url, metadata, file, characters)
  VALUES (after.number, a_title, a_url, a_metadata, a_file, a_characters)
  ON CONFLICT (document) DO UPDATE
    SET title = a_title, url = a_url, metadata = a_metadata, file = a_file, characters = a_characters;
  DELETE FROM contents WHERE document = after.number AND revision IS DISTINCT FROM after.served_revision;
  DELETE FROM files WHERE document = after.number AND revision IS DISTINCT FROM after.served_revision;
  PERFORM enqueue(after.number, after.revision, a_text);
  PERFORM take_file(a_file_number, after.number, after.revision);
  PERFORM tally(before.status, 'pending', 1, 0, (NOT waits)::int);
  RETURN after;
END $$;

-- The keys of its chunks; nothing where there is no such document.
CREATE FUNCTION delete_document(a_id text) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  gone documents;
  keys bigint[];
  left_jobs bigint;
BEGIN
  SELECT * INTO gone FROM documents WHERE id = a_id FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT coalesce(array_agg(key ORDER BY key), '{}') INTO keys FROM chunks WHERE document = gone.number;
  DELETE FROM jobs WHERE document = gone.number;
  GET DIAGNOSTICS left_jobs = ROW_COUNT;
  DELETE FROM documents WHERE number = gone.number;
  PERFORM tally(gone.status, NULL, 1, -cardinality(keys), -left_jobs);
  RETURN keys;
END $$;

CREATE FUNCTION retry_document(a_id text) RETURNS documents LANGUAGE plpgsql AS $$
DECLARE
  found_document documents;
  moment bigint := now_ms();
BEGIN
  SELECT * INTO found_document FROM documents WHERE id = a_id FOR UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'no such document' USING ERRCODE = 'AS003'; END IF;
  IF found_document.status <> 'failed' THEN RAISE EXCEPTION 'it has not failed' USING ERRCODE = 'AS004'; END IF;
  INSERT INTO jobs (document, revision, run_at, due_at)
  VALUES (found_document.number, found_document.revision, moment, moment);
  UPDATE documents
  SET status = 'pending', attempts = 0, error_code = NULL, error_message = NULL, updated_at = moment
  WHERE number = found_document.number RETURNING * INTO found_document;
  PERFORM tally('failed', 'pending', 1, 0, 1);
  RETURN found_document;
END $$;
