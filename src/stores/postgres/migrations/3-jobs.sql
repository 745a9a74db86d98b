-- Claims, and how they end. A claim is a number that never comes again; what refers to one that is no longer the
-- current one of its document changes nothing.

-- Claims what is due, jobs whose lease has ended among it, except those that the caller has in hand.
CREATE FUNCTION claim_jobs(
  most integer, most_characters bigint, a_owner text, in_hand bigint[], lease bigint
) RETURNS TABLE (
  id text, revision integer, claim bigint, attempts integer, text text, title text, url text, file text
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  taken bigint[];
  pending bigint;
  moment bigint := now_ms();
BEGIN
  WITH due AS MATERIALIZED (
    SELECT jobs.document, jobs.due_at, documents.status,
      coalesce(replacements.characters, documents.characters) AS characters
    FROM jobs
    JOIN documents ON number = jobs.document
    LEFT JOIN replacements ON replacements.document = number
    WHERE jobs.due_at <= moment AND (jobs.claim IS NULL OR jobs.claim <> ALL (in_hand))
    ORDER BY jobs.due_at, jobs.document LIMIT most
    FOR UPDATE OF jobs, documents SKIP LOCKED
  ), sums AS (
    SELECT document, status, row_number() OVER place AS position, sum(characters) OVER place AS sum
    FROM due WINDOW place AS (ORDER BY due_at, document)
  ), few AS (
    SELECT document, status FROM sums WHERE position = 1 OR sum <= most_characters
  ), claimed AS (
    UPDATE jobs SET claim = nextval('claims'), owner = a_owner, due_at = moment + lease
    FROM few WHERE jobs.document = few.document
  )
  SELECT array_agg(document), count(*) FILTER (WHERE status = 'pending') INTO taken, pending FROM few;
  IF taken IS NULL THEN RETURN; END IF;
  UPDATE documents SET status = 'processing', attempts = attempts + 1, updated_at = moment
  WHERE number = ANY (taken);
  PERFORM tally('pending', 'processing', pending, 0, 0);
  RETURN QUERY
    SELECT documents.id, jobs.revision, jobs.claim, documents.attempts, contents.text,
      CASE WHEN new.document IS NULL THEN documents.title ELSE new.title END,
      CASE WHEN new.document IS NULL THEN documents.url ELSE new.url END,
      CASE WHEN new.document IS NULL THEN documents.file ELSE new.file END
    FROM jobs
    JOIN documents ON number = jobs.document
    JOIN contents ON contents.document = number AND contents.revision = jobs.revision
    LEFT JOIN replacements AS new ON new.document = number
    WHERE jobs.document = ANY (taken)
    ORDER BY jobs.run_at, jobs.document;
END $$;

-- Those of these claims that are still current, with a lease that begins anew.
CREATE FUNCTION renew_claims(renewed bigint[], a_owner text, lease bigint) RETURNS SETOF bigint LANGUAGE sql AS $$
  UPDATE jobs SET due_at = now_ms() + lease
  WHERE document IN (
    SELECT document FROM jobs WHERE owner = a_owner AND claim = ANY (renewed) FOR UPDATE SKIP LOCKED
  ) RETURNING claim
$$;

-- Gives back the claims of an owner and all whose lease has ended. Answers how many.
CREATE FUNCTION recover_jobs(a_owner text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  taken bigint[];
  moment bigint := now_ms();
BEGIN
  WITH dead AS (
    SELECT jobs.document FROM jobs JOIN documents ON number = jobs.document
    WHERE claim IS NOT NULL AND (owner = a_owner OR due_at <= moment)
    FOR UPDATE OF jobs, documents SKIP LOCKED
  ), freed AS (
    UPDATE jobs SET claim = NULL, owner = NULL, due_at = run_at FROM dead WHERE jobs.document = dead.document
  )
  SELECT array_agg(document) INTO taken FROM dead;
  IF taken IS NULL THEN RETURN 0; END IF;
  UPDATE documents SET status = 'pending', updated_at = moment WHERE number = ANY (taken);
  PERFORM tally('processing', 'pending', cardinality(taken), 0, 0);
  RETURN cardinality(taken);
END $$;

-- Ends the leases of an owner that leaves, so that others need not wait for their end.
CREATE FUNCTION end_leases(a_owner text) RETURNS void LANGUAGE sql AS $$
  UPDATE jobs SET due_at = now_ms() WHERE document IN (
    SELECT document FROM jobs WHERE owner = a_owner AND claim IS NOT NULL FOR UPDATE SKIP LOCKED
  )
$$;

-- Locks the document and the job of a claim; nothing if it is not the current one.
CREATE FUNCTION current_job(a_id text, a_claim bigint) RETURNS jobs LANGUAGE plpgsql AS $$
DECLARE
  a_document bigint;
  job jobs;
BEGIN
  SELECT number INTO a_document FROM documents WHERE id = a_id FOR UPDATE;
  SELECT * INTO job FROM jobs WHERE document = a_document AND claim = a_claim FOR UPDATE;
  RETURN job;
END $$;

CREATE FUNCTION release_job(a_id text, a_claim bigint, a_code text, a_message text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE job jobs := current_job(a_id, a_claim);
BEGIN
  IF job.document IS NULL THEN RETURN; END IF;
  UPDATE jobs SET claim = NULL, owner = NULL, due_at = run_at WHERE document = job.document;
  UPDATE documents
  SET status = 'pending', attempts = attempts - 1, updated_at = now_ms(),
    error_code = coalesce(a_code, error_code), error_message = coalesce(a_message, error_message)
  WHERE number = job.document;
  PERFORM tally('processing', 'pending', 1, 0, 0);
END $$;

-- Without `retry_at` the document has failed for good.
CREATE FUNCTION fail_job(a_id text, a_claim bigint, a_code text, a_message text, retry_at bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  job jobs := current_job(a_id, a_claim);
  entered text := CASE WHEN retry_at IS NULL THEN 'failed' ELSE 'pending' END;
BEGIN
  IF job.document IS NULL THEN RETURN false; END IF;
  IF retry_at IS NULL THEN DELETE FROM jobs WHERE document = job.document;
  ELSE
    UPDATE jobs SET claim = NULL, owner = NULL, run_at = retry_at, due_at = retry_at WHERE document = job.document;
  END IF;
  UPDATE documents SET status = entered, error_code = a_code, error_message = a_message, updated_at = now_ms()
  WHERE number = job.document;
  PERFORM tally('processing', entered, 1, 0, -(retry_at IS NULL)::int);
  RETURN true;
END $$;

-- Vectors of one embedding only are kept. Those who add some share a lock, so that nobody changes what the embedding
-- is meanwhile.
CREATE FUNCTION keep_embedding(a_model text, a_dimension integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE kept embeddings;
BEGIN
  SELECT * INTO kept FROM embeddings WHERE vectors = 'current';
  IF kept.model = a_model AND kept.dimension = a_dimension THEN
    PERFORM pg_advisory_xact_lock_shared(1097302902, 2);
    SELECT * INTO kept FROM embeddings WHERE vectors = 'current';
    IF kept.model = a_model AND kept.dimension = a_dimension THEN RETURN; END IF;
    RAISE EXCEPTION 'the embedding has just changed' USING ERRCODE = 'serialization_failure';
  END IF;
  PERFORM pg_advisory_xact_lock(1097302902, 2);
  SELECT * INTO kept FROM embeddings WHERE vectors = 'current';
  IF kept.model = a_model AND kept.dimension = a_dimension THEN RETURN; END IF;
  IF EXISTS (SELECT 1 FROM vectors) THEN RAISE EXCEPTION 'another embedding' USING ERRCODE = 'AS005'; END IF;
  IF kept.vectors IS NOT NULL THEN UPDATE meta SET value = value + 1 WHERE name = 'vectors_generation'; END IF;
  INSERT INTO embeddings (vectors, model, dimension) VALUES ('current', a_model, a_dimension)
  ON CONFLICT (vectors) DO UPDATE SET model = a_model, dimension = a_dimension;
END $$;

-- The keys of the chunks that leave; nothing if the claim is not the current one. `a_text` is what was read out of a file.
CREATE FUNCTION complete_job(
  a_id text, a_claim bigint, a_keys bigint[], a_ordinals integer[], a_starts integer[], a_ends integer[],
  a_headings text[], a_texts text[], a_pages integer[], a_page_ends integer[],
  a_model text, a_dimension integer, a_vectors bytea, a_text text, a_characters integer
) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  job jobs;
  replaced bigint[];
  new replacements;
  vector_bytes integer := 2 * a_dimension;
BEGIN
  -- What is in a shared index and not here is taken for nobody's after an hour.
  IF EXISTS (
    SELECT 1 FROM key_marks
    WHERE minute < now_ms() / 60000 - 45 AND next_key > (SELECT min(key) FROM unnest(a_keys) AS key)
  ) THEN
    RAISE EXCEPTION 'the chunk keys are too old' USING ERRCODE = 'AS006';
  END IF;
  IF a_model IS NOT NULL THEN PERFORM keep_embedding(a_model, a_dimension); END IF;
  job := current_job(a_id, a_claim);
  IF job.document IS NULL THEN RETURN NULL; END IF;
  WITH gone AS (DELETE FROM chunks WHERE document = job.document RETURNING key)
  SELECT coalesce(array_agg(key ORDER BY key), '{}') INTO replaced FROM gone;
  DELETE FROM contents WHERE document = job.document AND revision < job.revision;
  DELETE FROM files WHERE document = job.document AND revision < job.revision;
  INSERT INTO chunks (key, document, revision, ordinal, start, "end", heading, text, page, page_end)
  SELECT c.key, job.document, job.revision, c.ordinal, c.start, c.stop, c.heading, c.text, c.page, c.page_end
  FROM unnest(a_keys, a_ordinals, a_starts, a_ends, a_headings, a_texts, a_pages, a_page_ends)
    AS c (key, ordinal, start, stop, heading, text, page, page_end);
  IF a_model IS NOT NULL THEN
    INSERT INTO vectors (key, vector)
    SELECT key, substring(a_vectors FROM (place::integer - 1) * vector_bytes + 1 FOR vector_bytes)
    FROM unnest(a_keys) WITH ORDINALITY AS each (key, place);
  END IF;
  DELETE FROM jobs WHERE document = job.document;
  IF a_text IS NOT NULL THEN UPDATE contents SET text = a_text WHERE document = job.document; END IF;
  DELETE FROM replacements WHERE document = job.document RETURNING * INTO new;
  IF new.document IS NOT NULL THEN PERFORM keep_metadata(job.document, new.metadata); END IF;
  UPDATE documents
  SET status = 'ready', error_code = NULL, error_message = NULL, served_revision = job.revision,
    chunk_count = cardinality(a_keys), updated_at = now_ms(),
    title = CASE WHEN new.document IS NULL THEN title ELSE new.title END,
    url = CASE WHEN new.document IS NULL THEN url ELSE new.url END,
    metadata = CASE WHEN new.document IS NULL THEN metadata ELSE new.metadata END,
    file = CASE WHEN new.document IS NULL THEN file ELSE new.file END,
    characters = coalesce(a_characters, new.characters, characters)
  WHERE number = job.document;
  PERFORM tally('processing', 'ready', 1, cardinality(a_keys) - cardinality(replaced), -1);
  RETURN replaced;
END $$;

-- The first of so many keys that nobody else ever gets.
CREATE FUNCTION reserve_chunk_keys(count bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  after bigint;
  this_minute bigint := now_ms() / 60000;
BEGIN
  UPDATE meta SET value = value + count WHERE name = 'next_chunk_key' RETURNING value INTO after;
  IF after - 1 > 4294967295 THEN RAISE EXCEPTION 'no chunk keys are left' USING ERRCODE = 'AS007'; END IF;
  INSERT INTO key_marks (minute, next_key) VALUES (this_minute, after)
  ON CONFLICT (minute) DO UPDATE SET next_key = after;
  DELETE FROM key_marks WHERE minute < (SELECT max(minute) FROM key_marks WHERE minute < this_minute - 45);
  RETURN after - count;
END $$;

-- Begins a set of next vectors, or goes on with the one of the same embedding. Answers how many there are.
CREATE FUNCTION begin_vectors(a_model text, a_dimension integer) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(1097302902, 4);
  IF EXISTS (SELECT 1 FROM embeddings WHERE vectors = 'next' AND model = a_model AND dimension = a_dimension) THEN
    RETURN (SELECT count(*) FROM next_vectors);
  END IF;
  DELETE FROM next_vectors;
  INSERT INTO embeddings (vectors, model, dimension) VALUES ('next', a_model, a_dimension)
  ON CONFLICT (vectors) DO UPDATE SET model = a_model, dimension = a_dimension;
  RETURN 0;
END $$;

-- Those of chunks that have gone meanwhile are left out.
CREATE FUNCTION add_next_vectors(a_keys bigint[], a_dimension integer, a_vectors bytea) RETURNS void LANGUAGE sql AS $$
  INSERT INTO next_vectors (key, vector)
  SELECT chunks.key, substring(a_vectors FROM (place::integer - 1) * 2 * a_dimension + 1 FOR 2 * a_dimension)
  FROM unnest(a_keys) WITH ORDINALITY AS each (key, place)
  JOIN chunks ON chunks.key = each.key FOR KEY SHARE OF chunks
  ON CONFLICT (key) DO UPDATE SET vector = excluded.vector;
$$;

-- Puts the next vectors in the place of those in use. By name, so that no vector is copied.
CREATE FUNCTION swap_vectors() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(1097302902, 2);
  LOCK TABLE chunks IN SHARE MODE;
  IF EXISTS (SELECT 1 FROM chunks WHERE NOT EXISTS (SELECT 1 FROM next_vectors WHERE next_vectors.key = chunks.key)) THEN
    RAISE EXCEPTION 'some chunks have none' USING ERRCODE = 'AS008';
  END IF;
  ALTER TABLE vectors RENAME TO last_vectors;
  ALTER TABLE next_vectors RENAME TO vectors;
  ALTER TABLE last_vectors RENAME TO next_vectors;
  TRUNCATE next_vectors;
  UPDATE meta SET value = value + 1 WHERE name = 'vectors_generation';
  DELETE FROM embeddings WHERE vectors = 'current';
  UPDATE embeddings SET vectors = 'current' WHERE vectors = 'next';
END $$;

-- Whatever the search path of who calls them.
DO $$
DECLARE each_function regprocedure;
BEGIN
  FOR each_function IN SELECT oid FROM pg_proc WHERE pronamespace = 'agent_server'::regnamespace LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path = agent_server, pg_temp', each_function);
  END LOOP;
END $$;
