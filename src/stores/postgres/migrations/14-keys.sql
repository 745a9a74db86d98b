-- Keys that are bounded to collections change nothing elsewhere; files that tools made belong to the key that asked.

-- Whether metadata is that of a document in one of these collections, of which null is that of documents in none.
CREATE FUNCTION is_among(facts text, among text[]) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT among IS NULL OR array_position(
    among, CASE WHEN jsonb_typeof(facts::jsonb -> 'collection') = 'string' THEN facts::jsonb ->> 'collection' END
  ) IS NOT NULL
$$;

CREATE FUNCTION put_document_among(
  a_id text, a_text text, a_characters integer, a_title text, a_url text, a_metadata text, a_file text,
  a_file_number bigint, most bigint, among text[]
) RETURNS documents LANGUAGE plpgsql SET search_path = agent_server, pg_temp AS $$
DECLARE
  before documents;
  after documents;
BEGIN
  PERFORM enter_queue(most);
  SELECT * INTO before FROM documents WHERE id = a_id FOR UPDATE;
  IF FOUND AND NOT is_among(before.metadata, among) THEN
    RAISE EXCEPTION 'no such document' USING ERRCODE = 'AS003';
  END IF;
  after := put_document(a_id, a_text, a_characters, a_title, a_url, a_metadata, a_file, a_file_number, most);
  -- Added by another meanwhile, perhaps elsewhere: the caller comes again.
  IF before.number IS NULL AND after.revision > 1 THEN
    RAISE EXCEPTION 'added meanwhile' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN after;
END $$;

ALTER TABLE artifacts ADD COLUMN owner text COLLATE "C";

CREATE FUNCTION add_artifact(
  a_id text, a_name text, a_media_type text, a_bytes bytea, most bigint, most_bytes bigint, longest bigint, a_kind text,
  a_owner text
) RETURNS bigint LANGUAGE plpgsql SET search_path = agent_server, pg_temp AS $$
DECLARE moment bigint;
BEGIN
  moment := add_artifact(a_id, a_name, a_media_type, a_bytes, most, most_bytes, longest, a_kind);
  UPDATE artifacts SET owner = a_owner WHERE id = a_id AND a_owner IS NOT NULL;
  RETURN moment;
END $$;
