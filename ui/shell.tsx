import { signal, useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { RestartBanner } from './admin/restart-banner.tsx'
import { NotLaunched } from './admin/server-panel.tsx'
import { serverState } from './admin/server-state.ts'
import { hasUnsent } from './chat/draft.ts'
import { AccountsPage } from './pages/accounts.tsx'
import { ActivityPage } from './pages/activity.tsx'
import { AgentPage } from './pages/agent.tsx'
import { ChatPage } from './pages/chat.tsx'
import { CollectionsPage } from './pages/collections.tsx'
import { DeployPage } from './pages/deploy.tsx'
import { DocumentsPage } from './pages/documents.tsx'
import { EvaluationPage } from './pages/evaluation.tsx'
import { FeedbackPage } from './pages/feedback.tsx'
import { KeysPage } from './pages/keys.tsx'
import { ModelsPage } from './pages/models.tsx'
import { OverviewPage } from './pages/overview.tsx'
import { SearchPage } from './pages/search.tsx'
import { SettingsPage } from './pages/settings.tsx'
import { UsagePage } from './pages/usage.tsx'
import { Palette } from './palette.tsx'
import { Button } from './parts/controls.tsx'
import { Confirm, Dialog } from './parts/dialog.tsx'
import { Icon, type IconName } from './parts/icon.tsx'
import { href, route } from './route.ts'
import { may, person, signOut, version } from './session.ts'
import { THEMES, theme } from './theme.ts'
import { hasUnsaved } from './unsaved.ts'

interface PageEntry {
  /** What one has to be allowed to do for it. */
  needs: Parameters<typeof may>[0]
  /** Whether it shows something of a server that is not launched. */
  isAlways?: boolean
  path: IconName
  title: string
  /** `id` is what stands behind the page's path in the address. */
  Page: ComponentType<{ id?: string | undefined }>
}

/** The pages of a part of the navigation; the first part has no name. */
interface PageGroup {
  title?: string
  pages: readonly PageEntry[]
}

/** In the order of the navigation. A page has its entry here once all of it works. */
const GROUPS: readonly PageGroup[] = [
  {
    pages: [
      { path: 'chat', title: 'Chat', needs: 'chat', Page: ChatPage },
      { path: 'documents', title: 'Documents', needs: 'query', Page: DocumentsPage },
      { path: 'collections', title: 'Collections', needs: 'query', Page: CollectionsPage },
      { path: 'search', title: 'Search', needs: 'query', Page: SearchPage },
      { path: 'feedback', title: 'Feedback', needs: 'chat', Page: FeedbackPage },
      { path: 'accounts', title: 'Accounts', needs: 'chat', Page: AccountsPage },
    ],
  },
  {
    title: 'Configure',
    pages: [
      { path: 'agent', title: 'Agent', needs: 'admin', Page: AgentPage, isAlways: true },
      { path: 'models', title: 'Models', needs: 'admin', Page: ModelsPage, isAlways: true },
      { path: 'keys', title: 'Keys', needs: 'admin', Page: KeysPage },
      { path: 'settings', title: 'Settings', needs: 'admin', Page: SettingsPage, isAlways: true },
    ],
  },
  {
    title: 'Operate',
    pages: [
      { path: 'overview', title: 'Overview', needs: 'admin', Page: OverviewPage, isAlways: true },
      { path: 'usage', title: 'Usage', needs: 'chat', Page: UsagePage },
      { path: 'evaluation', title: 'Evaluation', needs: 'admin', Page: EvaluationPage },
      { path: 'activity', title: 'Activity', needs: 'admin', Page: ActivityPage, isAlways: true },
      { path: 'deploy', title: 'Deploy', needs: 'admin', Page: DeployPage, isAlways: true },
    ],
  },
]

/** The parts that the person may use. */
const shownGroups = () =>
  GROUPS.map((group) => ({
    ...group,
    pages: group.pages.filter(({ needs }) => may(needs)),
  })).filter(({ pages }) => pages.length > 0)

/** Pages that a narrow screen has room for, beside the current one; a sheet leads to the others. */
const NARROW_PAGES: ReadonlySet<string> = new Set(['chat', 'documents', 'search', 'overview'])

export function Shell() {
  const shown = shownGroups().flatMap(({ pages }) => pages)
  const [path = may('admin') ? 'overview' : shown[0]?.path, id] = route.value
  const entry = shown.find((one) => one.path === path)
  const main = useRef<HTMLElement>(null)
  const title = entry?.title ?? 'Not found'
  useEffect(() => {
    document.title = `${title} · Agent Server`
  }, [title])

  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header class="bar">
        <a class="brand" href={href()}>
          Agent Server
        </a>
        <Palette pages={shown} />
        <nav aria-label="Pages" class="pages">
          <PageLinks current={path} />
          <Button icon="more" class="more-pages" onClick={() => (isSheetOpen.value = true)}>
            More
          </Button>
        </nav>
        {isSheetOpen.value && <PageSheet current={path} />}
        <Foot />
      </header>
      <main ref={main} id="main" tabIndex={-1} class={`page ${path}`}>
        {may('admin') && <RestartBanner />}
        <PageOf entry={entry} id={id} />
      </main>
    </div>
  )
}

function PageLinks({ current }: { current: string | undefined }) {
  return shownGroups().map(({ title, pages }) => (
    <div key={title} class="page-group">
      {title && <p class="hint">{title}</p>}
      <ul aria-label={title}>
        {pages.map(({ path, title }) => (
          <li key={path} class={NARROW_PAGES.has(path) ? '' : 'not-narrow'}>
            <a href={href(path)} aria-current={path === current ? 'page' : undefined}>
              <Icon name={path} />
              {title}
            </a>
          </li>
        ))}
      </ul>
    </div>
  ))
}

/** Whether all pages are shown over a narrow screen. */
const isSheetOpen = signal(false)

/** All pages, for screens on which the navigation has room for a few. */
function PageSheet({ current }: { current: string | undefined }) {
  const close = () => {
    isSheetOpen.value = false
  }
  useEffect(() => {
    window.addEventListener('hashchange', close)
    return () => window.removeEventListener('hashchange', close)
  }, [])
  return (
    <Dialog title="Pages" onClose={close}>
      <nav aria-label="All pages" class="page-sheet">
        <PageLinks current={current} />
      </nav>
    </Dialog>
  )
}

function PageOf({ entry, id }: { entry: PageEntry | undefined; id: string | undefined }) {
  if (!entry) return <NotFound />
  const { state = 'running' } = serverState.value ?? {}
  if (state !== 'running' && !entry.isAlways) return <NotLaunched title={entry.title} />
  return <entry.Page id={id} />
}

function NotFound() {
  return (
    <>
      <h1>Not found</h1>
      <p>
        There is no such page. Go to the <a href={href()}>first page</a>.
      </p>
    </>
  )
}

/** Asks first where something would be lost. */
function SignOut() {
  const isAsking = useSignal(false)
  return (
    <>
      <Button
        icon="signOut"
        class="quiet"
        onClick={() => {
          if (hasUnsaved() || hasUnsent()) isAsking.value = true
          else void signOut()
        }}
      >
        Sign out
      </Button>
      {isAsking.value && (
        <Confirm
          title="Sign out without saving?"
          action="Sign out anyway"
          icon="signOut"
          onConfirm={() => {
            isAsking.value = false
            void signOut()
          }}
          onClose={() => (isAsking.value = false)}
        >
          <p>
            {hasUnsaved() && 'Changes that are not saved, or files that are being sent, are lost. '}
            {hasUnsent() && 'The question that you have not sent is lost.'}
          </p>
        </Confirm>
      )}
    </>
  )
}

function Foot() {
  return (
    <div class="foot">
      <label class="theme">
        <span>Theme</span>
        <select
          value={theme.value}
          onChange={({ currentTarget }) =>
            (theme.value = THEMES.find((one) => one === currentTarget.value) ?? 'system')
          }
        >
          <option value="system">System</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </label>
      <a class="button quiet" href="/reference">
        <Icon name="reference" />
        API reference
      </a>
      {person.value && (
        <p class="hint" title={`Signed in as ${person.value.id}`}>
          {person.value.name ?? person.value.id}
        </p>
      )}
      <SignOut />
      <span class="version">{version.value}</span>
    </div>
  )
}
