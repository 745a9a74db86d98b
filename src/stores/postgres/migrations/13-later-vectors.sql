-- Keeps vectors that come after their chunks, and answers the keys of those that are still there.
CREATE FUNCTION add_vectors(a_model text, a_dimension integer, a_keys bigint[], a_vectors bytea)
RETURNS bigint[] LANGUAGE plpgsql SET search_path = agent_server, pg_temp AS $$
DECLARE kept bigint[];
BEGIN
  PERFORM keep_embedding(a_model, a_dimension);
  WITH added AS (
    INSERT INTO vectors (key, vector)
    SELECT chunks.key, substring(a_vectors FROM (place::integer - 1) * 2 * a_dimension + 1 FOR 2 * a_dimension)
    FROM unnest(a_keys) WITH ORDINALITY AS each (key, place)
    JOIN chunks ON chunks.key = each.key FOR KEY SHARE OF chunks
    ON CONFLICT (key) DO UPDATE SET vector = excluded.vector
    RETURNING key
  )
  SELECT coalesce(array_agg(key), '{}') INTO kept FROM added;
  RETURN kept;
END $$;
