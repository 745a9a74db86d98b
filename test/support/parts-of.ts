/** Some or all of the fields of a type, at every depth: names and values must be known, and none is required. */
export type PartsOf<Whole> = Whole extends readonly (infer Item)[]
  ? readonly PartsOf<Item>[]
  : Whole extends object
    ? { [Key in keyof Whole]?: PartsOf<Whole[Key]> }
    : Whole
