/** Drawn in strokes on a square of 24. */
const PATHS = {
  overview: 'M4 11l8-7 8 7v9h-5.5v-6h-5v6H4z',
  documents: 'M6 3h8l5 5v13H6zM14 3v5h5M9 13h7M9 17h7',
  search: 'M4 10.5a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0-13 0M15.2 15.2L21 21',
  chat: 'M4 4h16v12h-9l-5 4v-4H4zM8 8.5h8M8 12h5',
  agent: 'M5 8h14v11H5zM12 8V4M9 12.5v2M15 12.5v2M2 12v4M22 12v4',
  models: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9',
  keys: 'M3 15.5a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0M10.7 12.3L20 3M16 7l3 3',
  activity: 'M3 12h4l3-8 4 16 3-8h4',
  deploy: 'M12 15V4M8 8l4-4 4 4M4 14v6h16v-6',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  settings: 'M4 7h8M16 7h4M14 4.5v5M4 17h4M12 17h8M10 14.5v5',
}

export type PageIconName = keyof typeof PATHS

/** A picture beside a name, which says everything. */
export function PageIcon({ name }: { name: PageIconName }) {
  return (
    <svg class="page-icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
