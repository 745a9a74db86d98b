-- Changes metadata alone, of what is served and of what is to replace it; a null takes a field out. With `reclaim` a
-- claim of the document is no longer current. A row of nulls where there is no such document.
CREATE FUNCTION patch_metadata(a_id text, a_patch text, reclaim boolean, most_fields integer)
RETURNS documents LANGUAGE plpgsql SET search_path = agent_server, pg_temp AS $$
DECLARE
  found_document documents;
  is_taken boolean;
BEGIN
  SELECT * INTO found_document FROM documents WHERE id = a_id FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  is_taken := reclaim AND found_document.status = 'processing';
  IF is_taken THEN
    UPDATE jobs SET claim = NULL, owner = NULL, due_at = run_at WHERE document = found_document.number;
  END IF;
  UPDATE replacements
  SET metadata = jsonb_strip_nulls(coalesce(metadata, '{}')::jsonb || a_patch::jsonb)::text
  WHERE document = found_document.number;
  UPDATE documents
  SET metadata = jsonb_strip_nulls(coalesce(metadata, '{}')::jsonb || a_patch::jsonb)::text, updated_at = now_ms(),
    status = CASE WHEN is_taken THEN 'pending' ELSE status END, attempts = attempts - is_taken::int
  WHERE number = found_document.number RETURNING * INTO found_document;
  IF EXISTS (
    SELECT FROM (
      SELECT found_document.metadata UNION ALL
      SELECT replacements.metadata FROM replacements WHERE document = found_document.number
    ) AS each (facts) WHERE (SELECT count(*) FROM jsonb_object_keys(facts::jsonb)) > most_fields
  ) THEN
    RAISE EXCEPTION 'too many fields' USING ERRCODE = 'AS010';
  END IF;
  PERFORM keep_metadata(found_document.number, found_document.metadata);
  -- The row of `counts` comes last.
  IF is_taken THEN PERFORM tally('processing', 'pending', 1, 0, 0); END IF;
  RETURN found_document;
END $$;
