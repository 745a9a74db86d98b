import { counted } from '../format.ts'
import { Field } from '../parts/controls.tsx'
import { AgentCard, type CardState } from './agent-card.tsx'
import { Connections, connectionsState } from './agent-connections.tsx'
import type { AgentEditor } from './agent-editor.ts'
import { SandboxForm, sandboxState } from './agent-sandbox.tsx'
import { Skills, skillsState } from './agent-skills.tsx'
import { Tools, toolsState } from './agent-tools.tsx'
import type { LoadedAgent } from './loaded-agent.ts'

interface Form {
  editor: AgentEditor
  loaded: LoadedAgent
}

/** Every part of the agent as a card; each writes into the text, which is saved as a whole. */
export function AgentForms({ editor, loaded }: Form) {
  const isRead = editor.file.value !== undefined
  const { capabilities } = loaded
  const check = editor.found.value
  const stateOf = (state: CardState) => (isRead ? state : undefined)
  return (
    <div class="agent-cards" inert={isRead && !editor.fields.value}>
      <AgentCard
        title="Prompt"
        field="prompt"
        check={check}
        state={stateOf(promptState(editor))}
        isOpen
      >
        <Prompt editor={editor} />
      </AgentCard>
      <AgentCard
        title="Tools"
        field="tools"
        check={check}
        state={stateOf(toolsState(editor, loaded))}
      >
        <Tools editor={editor} tools={loaded.tools} />
      </AgentCard>
      <AgentCard
        title="Skills"
        field="skills"
        check={check}
        state={stateOf(skillsState(editor, capabilities?.skills))}
      >
        <Skills editor={editor} loaded={capabilities?.skills} />
      </AgentCard>
      <AgentCard
        title="MCP"
        field="mcpServers"
        check={check}
        state={stateOf(connectionsState(editor, capabilities?.mcp))}
      >
        <Connections editor={editor} running={capabilities?.mcp} onAccepted={loaded.refresh} />
      </AgentCard>
      <AgentCard
        title="Sandbox"
        field="sandbox"
        check={check}
        state={stateOf(sandboxState(editor, capabilities?.sandbox))}
      >
        <SandboxForm editor={editor} />
      </AgentCard>
    </div>
  )
}

function promptState(editor: AgentEditor): CardState {
  const words = String(editor.field('prompt') ?? '').match(/\S+/g)?.length ?? 0
  if (words === 0) return { tone: 'off', words: 'Only the server’s own rules' }
  return { tone: 'good', words: `Your instructions, ${counted(words, 'word')}` }
}

/** The server's own rules stand first, whatever the configuration says. */
function Prompt({ editor }: { editor: AgentEditor }) {
  const { rules = '', assembled = '' } = editor.found.value?.prompt ?? {}
  return (
    <>
      <Field label="Instructions for the agent, added after the server’s own rules">
        <textarea
          rows={6}
          readOnly={editor.file.value === undefined}
          value={String(editor.field('prompt') ?? '')}
          onInput={({ currentTarget }) => editor.set(['prompt'], currentTarget.value)}
        />
      </Field>
      <div>
        <details class="settings">
          <summary>The server’s own rules</summary>
          <pre class="code">{rules}</pre>
        </details>
        <details class="settings">
          <summary>Complete system message with this configuration</summary>
          <pre class="code">{assembled}</pre>
        </details>
      </div>
    </>
  )
}
