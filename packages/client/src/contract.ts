// Generated from /openapi.json by `npm run client:types`; a test compares the two. Do not edit.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ActivityEvent: components["schemas"]["LogEvent"] | components["schemas"]["RequestEvent"] | components["schemas"]["RunEvent"] | components["schemas"]["SampleEvent"];
        /** @description The JSON object of each server-sent event. */
        ActivityFrame: components["schemas"]["ActivityEvent"] | components["schemas"]["ErrorFrame"];
        Agent: {
            /** @description Further agents that the caller may use. Absent if there are none. */
            agents?: {
                /** @description What it is for. */
                description?: string;
                /** @description What clients send as `agent` or as `model`. */
                name: string;
            }[];
            /** @description Name of the agent, from `agent.json`. */
            name: string;
            /** @description What the agent is and works with. */
            profile: {
                /** @description Description of the agent, from `agent.json`. */
                description: string;
                /** @description Whether questions may show images to the chat model. If its server does not say, true until it refuses one. */
                images: boolean;
                /** @description Name of the chat model. */
                model: string;
                /**
                 * @description `lexical`: BM25 only. `hybrid`: BM25 combined with embeddings.
                 * @enum {string}
                 */
                retrieval: "lexical" | "hybrid";
            };
            /** @description The skills that the agent can use now. Absent if there are none. */
            skills?: {
                /** @description What the skill is for, as the model is told. */
                description: string;
                /** @description Name of the skill, by which a question may ask for it. */
                name: string;
            }[];
            /** @description The tools that the agent can use now. */
            tools: {
                /** @description Name of the tool, as the model sees it. */
                name: string;
                /** @description `builtin`, `mcp:<connection>`, `skill` or `plugin:<name>`. */
                source: string;
            }[];
        };
        AgentCheck: {
            /** @description The parsed configuration with all defaults filled in. Absent if the text is invalid. */
            configuration?: {
                [key: string]: unknown;
            };
            /** @description All mistakes, each with its field. */
            mistakes: components["schemas"]["Mistake"][];
            /** @description The prompt the model would receive; includes the configured prompt if the configuration is valid. */
            prompt: {
                /** @description The complete system message. */
                assembled: string;
                /** @description The list of currently available skills. */
                catalogue: string;
                /** @description The server’s own rules, which always come first. */
                rules: string;
            };
            /** @description Whether the configuration has no mistakes. */
            valid: boolean;
        };
        /** @description Extension of the protocol. `[n]` in the answer cites the n-th of the retrieved chunks. */
        AgentExtra: {
            /** @description True if the answer says that the documents do not say what was asked, and nothing else of them: `hits` are then the nearest passages. Absent otherwise. */
            abstained?: boolean;
            /** @description Calls that wait for approval; absent if there are none. */
            approval?: components["schemas"]["Approval"];
            /** @description Files created by tools in this run. Absent if there are none. */
            artifacts?: components["schemas"]["Artifact"][];
            /** @description How the chat model checked the citations. Absent if it was not asked. */
            citationCheck?: {
                /** @description Statements with a verdict. */
                statements: number;
                /** @description Tokens of the call, of those in `usage`; estimated if they were not reported. */
                tokens: number;
                /** @description Why all statements, or some, were compared by words alone. */
                warning?: string;
            };
            /** @description The citations in the answer, in order: the first 4,000. Absent if there are none. */
            citations?: components["schemas"]["Citation"][];
            /** @description A model used by the search did not respond, or cannot read the question, or the vectors are lost. Without the embedding model or the vectors, search is lexical only; without the reranking model, hits keep their original order; without the chat model, a follow-up is searched for together with the previous questions, and `effort` ends early. In `/readiness`, also set if ingestion has stopped. Absent otherwise. */
            degraded?: boolean;
            /**
             * @description Why the answer ended. `stop`: it is complete. `length`: the model’s token limit. `content_filter`: the model’s provider withheld it. `tool_calls`: it calls the client’s tools. `round_limit`, `call_limit`, `time_limit`, `token_limit`: a limit of `agent.json`. `usage_limit`: what a person, group or key may use in a day. `approval_required`: calls wait for approval.
             * @enum {string}
             */
            finishReason: "stop" | "length" | "content_filter" | "tool_calls" | "round_limit" | "call_limit" | "time_limit" | "token_limit" | "usage_limit" | "approval_required";
            /** @description The retrieved chunks. */
            hits: components["schemas"]["Hit"][];
            /** @description The limits of `agent.json` that prevented a tool call or cut off the answer. Absent if none did. */
            limitsReached?: ("rounds" | "toolCalls" | "seconds" | "tokens")[];
            /** @description The standalone question used for the search, with typing errors corrected. Absent if the last message was used unchanged. */
            searchedFor?: string;
            /** @description Citation numbers in the answer that match no hit; the answer shows `[?]` instead. Absent if there are none. */
            unknownCitations?: number[];
        };
        /** @description The agent configuration on disk. */
        AgentFile: {
            /** @description The parsed configuration with all defaults filled in. Absent if the text is invalid. */
            configuration?: {
                [key: string]: unknown;
            };
            /** @description SHA-256 hash of the text, in hexadecimal. */
            digest: string;
            /** @description Whether the file exists. Without it, the agent uses the defaults. */
            found: boolean;
            /** @description All mistakes, each with its field. */
            mistakes: components["schemas"]["Mistake"][];
            /** @description Path of the file, from AGENT_CONFIG. */
            path: string;
            /** @description The prompt the model would receive; includes the configured prompt if the configuration is valid. */
            prompt: {
                /** @description The complete system message. */
                assembled: string;
                /** @description The list of currently available skills. */
                catalogue: string;
                /** @description The server’s own rules, which always come first. */
                rules: string;
            };
            /** @description The fields that differ from the running configuration, because the file was changed by hand; a save or a restart applies them. */
            restartFields: string[];
            /** @description The text on disk; empty if there is no file. */
            text: string;
            /** @description The names allowed under `tools`, with descriptions. */
            toolSwitches: {
                [key: string]: string;
            };
            /** @description Whether the configuration has no mistakes. */
            valid: boolean;
        };
        /**
         * @example {
         *       "text": "{ \"prompt\": \"Answer briefly.\" }",
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "When does the library open?"
         *         }
         *       ]
         *     }
         */
        AgentQuestion: {
            /** @description Which agent answers, by its name under `agents` in `agent.json`: see `agents` in `GET /agent`. If absent, the file’s own. */
            agent?: string | null;
            citationCheck?: ("words" | "model") | null;
            /** @description Only documents in this collection, that is, with this name in the metadata field `collection`. `default` contains the documents without that field. If absent, all documents. */
            collection?: string | null;
            effort?: ("low" | "medium" | "high") | null;
            filter?: components["schemas"]["Filter"] | null;
            /**
             * @description Whether to also stream steps of the search, tool calls, tool results, reasoning and progress.
             * @default false
             */
            includeSteps?: boolean | null;
            /** @description The conversation. The last user message is answered. */
            messages: components["schemas"]["ChatMessage"][];
            /** @description Leaves out chunks with a lower `score`, 0 to 1: an answer may then have no hits. */
            minScore?: number | null;
            mode?: ("hybrid" | "lexical" | "dense") | null;
            /**
             * @description How much the model reasons, in its provider’s words: `none`, `low`, `medium`, `high` … Default: CHAT_REASONING_EFFORT, or else the model’s own.
             * @example low
             */
            reasoningEffort?: string | null;
            resume?: components["schemas"]["Resume"] | null;
            /**
             * @description Whether a follow-up that cannot be understood alone is rewritten before the search. The chat model rewrites it as a standalone question in a separate call, which counts towards the usage; without a generating model, it is searched for together with the previous questions.
             * @default true
             */
            rewrite?: boolean | null;
            /** @description The whole configuration, as JSON. */
            text: string;
            /** @description Maximum number of context chunks to retrieve, up to 100; 0 retrieves none. Default: the server's TOP_K. */
            topK?: number | null;
        };
        AgentResponse: {
            /** @description Extension of the protocol: what led to the answer. */
            agent?: {
                /** @description True if the answer says that the documents do not say what was asked, and nothing else of them: `hits` are then the nearest passages. Absent otherwise. */
                abstained?: boolean;
                /** @description Calls that wait for approval; absent if there are none. */
                approval?: components["schemas"]["Approval"];
                /** @description Files created by tools in this run. Absent if there are none. */
                artifacts?: components["schemas"]["Artifact"][];
                /** @description How the chat model checked the citations. Absent if it was not asked. */
                citationCheck?: {
                    /** @description Statements with a verdict. */
                    statements: number;
                    /** @description Tokens of the call, of those in `usage`; estimated if they were not reported. */
                    tokens: number;
                    /** @description Why all statements, or some, were compared by words alone. */
                    warning?: string;
                };
                /** @description The citations in the answer, in order: the first 4,000. Absent if there are none. */
                citations?: components["schemas"]["Citation"][];
                /** @description A model used by the search did not respond, or cannot read the question, or the vectors are lost. Without the embedding model or the vectors, search is lexical only; without the reranking model, hits keep their original order; without the chat model, a follow-up is searched for together with the previous questions, and `effort` ends early. In `/readiness`, also set if ingestion has stopped. Absent otherwise. */
                degraded?: boolean;
                error?: components["schemas"]["ErrorDetail"];
                /**
                 * @description Why the answer ended. `stop`: it is complete. `length`: the model’s token limit. `content_filter`: the model’s provider withheld it. `tool_calls`: it calls the client’s tools. `round_limit`, `call_limit`, `time_limit`, `token_limit`: a limit of `agent.json`. `usage_limit`: what a person, group or key may use in a day. `approval_required`: calls wait for approval.
                 * @enum {string}
                 */
                finishReason?: "stop" | "length" | "content_filter" | "tool_calls" | "round_limit" | "call_limit" | "time_limit" | "token_limit" | "usage_limit" | "approval_required";
                /** @description The retrieved chunks. */
                hits?: components["schemas"]["Hit"][];
                /** @description The limits of `agent.json` that prevented a tool call or cut off the answer. Absent if none did. */
                limitsReached?: ("rounds" | "toolCalls" | "seconds" | "tokens")[];
                /** @description The standalone question used for the search, with typing errors corrected. Absent if the last message was used unchanged. */
                searchedFor?: string;
                /** @description Citation numbers in the answer that match no hit; the answer shows `[?]` instead. Absent if there are none. */
                unknownCitations?: number[];
            };
            /** @description Always false. */
            background: boolean;
            /** @description When it was completed, in seconds since 1970; otherwise null. */
            completed_at: number | null;
            /** @description The stored conversation that it belongs to; null if none. */
            conversation: {
                /** @description Identifier of the conversation. */
                id: string;
            } | null;
            /** @description When it was created, in seconds since 1970. */
            created_at: number;
            /** @description Why it failed; null if it did not. */
            error: {
                /** @description `rate_limit_exceeded` or `server_error`; `agent.error` is more precise. */
                code: string;
                /** @description What went wrong and how to fix it. */
                message: string;
            } | null;
            /** @description Always 0. */
            frequency_penalty: number;
            /** @description Identifier of the response. */
            id: string;
            /** @description Why it is incomplete; null if it is not. */
            incomplete_details: {
                /** @description `max_output_tokens` or `content_filter`; `agent.finishReason` is more precise. */
                reason: string;
            } | null;
            /** @description As requested. */
            instructions: string | null;
            /** @description As requested. */
            max_output_tokens: number | null;
            /** @description Always null. */
            max_tool_calls: string | null;
            /** @description As requested. */
            metadata: {
                [key: string]: string;
            };
            /** @description Name of the agent. */
            model: string;
            /** @constant */
            object: "response";
            /** @description What the agent produced. */
            output: components["schemas"]["ResponseOutputItem"][];
            /** @description Always true. */
            parallel_tool_calls: boolean;
            /** @description Always 0. */
            presence_penalty: number;
            /** @description As requested. */
            previous_response_id: string | null;
            /** @description Always null. */
            prompt_cache_key: string | null;
            /** @description As requested. */
            reasoning: {
                /** @description As requested. */
                effort: string | null;
                /** @description Always null. */
                summary: string | null;
            };
            /** @description Always null. */
            safety_identifier: string | null;
            /** @description Always `default`. */
            service_tier: string;
            /**
             * @description Whether it is complete; `incomplete` if it was cut off.
             * @enum {string}
             */
            status: "in_progress" | "completed" | "incomplete" | "failed";
            /** @description As requested. */
            store: boolean;
            /** @description As requested; 1 if the model’s own is used. */
            temperature: number;
            /** @description As requested. */
            text: {
                [key: string]: unknown;
            };
            /** @description As requested. */
            tool_choice: unknown;
            /** @description As requested. */
            tools: {
                [key: string]: unknown;
            }[];
            /** @description Always 0. */
            top_logprobs: number;
            /** @description As requested; 1 if the model’s own is used. */
            top_p: number;
            /** @constant */
            truncation: "auto";
            /** @description Tokens of the run; null if the model does not report them. */
            usage: {
                /** @description Tokens of the prompts. */
                input_tokens: number;
                /** @description Details of the input tokens. */
                input_tokens_details: {
                    /** @description Tokens written to the model’s cache; 0 if it does not report them. */
                    cache_write_tokens: number;
                    /** @description Tokens served from the model’s cache; 0 if it does not report them. */
                    cached_tokens: number;
                };
                /** @description Tokens that the model generated. */
                output_tokens: number;
                /** @description Details of the output tokens. */
                output_tokens_details: {
                    /** @description Tokens of the model’s thinking; 0 if it does not report them. */
                    reasoning_tokens: number;
                };
                /** @description The sum of input and output tokens. */
                total_tokens: number;
            } | null;
        };
        /**
         * @example {
         *       "basedOn": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
         *     }
         */
        AgentRestore: {
            /** @description The `digest` of the version that these changes are based on. If the file has changed since, nothing is saved and the response is `edit_conflict`. */
            basedOn: string;
        };
        /**
         * @example {
         *       "text": "{ \"prompt\": \"Answer briefly.\" }",
         *       "basedOn": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
         *     }
         */
        AgentSave: {
            /** @description The `digest` of the version that these changes are based on. If the file has changed since, nothing is saved and the response is `edit_conflict`. */
            basedOn: string;
            /** @description The whole configuration, as JSON. */
            text: string;
        };
        AgentSaved: {
            /** @description The fields that have changed. */
            changed: string[];
            file: components["schemas"]["AgentFile"];
        };
        /**
         * @example {
         *       "text": "{ \"prompt\": \"Answer briefly.\" }"
         *     }
         */
        AgentText: {
            /** @description The whole configuration, as JSON. */
            text: string;
        };
        AgentVersion: {
            /** @description SHA-256 hash of the text, in hexadecimal. */
            digest: string;
            /** @description The whole configuration, as JSON. */
            text: string;
        };
        AgentVersions: {
            /** @description Earlier versions of the file, newest first. */
            versions: {
                /** @description SHA-256 hash of the text, in hexadecimal. */
                digest: string;
                /**
                 * Format: date-time
                 * @description When it was replaced by the next version.
                 */
                replacedAt: string;
            }[];
        };
        /** @description A tool call, with its result if there is one. */
        AnswerStep: {
            /** @description Identifies the call. */
            callId: string;
            /** @description Arguments of the call. */
            input: unknown;
            /** @description Whether the call failed. */
            isError?: boolean;
            /** @description Duration in milliseconds. */
            milliseconds?: number;
            /** @description The result, as given to the model; cut after 20,000 characters. */
            output?: string;
            /** @description Name of the tool. */
            tool: string;
        };
        /** @description One for each hit that the text cites. */
        AnthropicCitation: components["schemas"]["AnthropicCitationWebSearchResultLocation"] | components["schemas"]["AnthropicCitationCharLocation"];
        AnthropicCitationCharLocation: {
            /** @description The cited passage. */
            cited_text: string;
            /** @description The index of the hit in `agent.hits`. */
            document_index: number;
            /** @description Title of the document. */
            document_title: string | null;
            /** @description End offset (exclusive). */
            end_char_index: number;
            /** @description The id of the document. */
            file_id: string;
            /** @description Start offset in the document, in UTF-16 code units. */
            start_char_index: number;
            /** @constant */
            type: "char_location";
        };
        AnthropicCitationWebSearchResultLocation: {
            /** @description The cited passage. */
            cited_text: string;
            /** @description Always empty. */
            encrypted_index: string;
            /** @description Title of the document. */
            title: string | null;
            /** @constant */
            type: "web_search_result_location";
            /** @description URL of the document. */
            url: string;
        };
        AnthropicContentBlock: components["schemas"]["AnthropicContentBlockText"] | components["schemas"]["AnthropicContentBlockThinking"] | components["schemas"]["AnthropicContentBlockRedactedThinking"] | components["schemas"]["AnthropicContentBlockToolUse"];
        AnthropicContentBlockRedactedThinking: {
            /** @description The model’s reasoning; send it back unchanged with the results of the calls. */
            data: string;
            /** @constant */
            type: "redacted_thinking";
        };
        AnthropicContentBlockText: {
            /** @description What the text cites; absent if nothing. */
            citations?: components["schemas"]["AnthropicCitation"][];
            /** @description Text of the block. */
            text: string;
            /** @constant */
            type: "text";
        };
        AnthropicContentBlockThinking: {
            /** @description Always empty. */
            signature: string;
            /** @description The model’s reasoning. */
            thinking: string;
            /** @constant */
            type: "thinking";
        };
        AnthropicContentBlockToolUse: {
            /** @description Identifier of the call. */
            id: string;
            /** @description Arguments of the call. */
            input: unknown;
            /** @description Name of the client’s tool to call. */
            name: string;
            /** @constant */
            type: "tool_use";
        };
        /**
         * @example {
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "When does the library open?"
         *         }
         *       ]
         *     }
         */
        AnthropicCountRequest: {
            citationCheck?: ("words" | "model") | null;
            /** @description Only documents in this collection, that is, with this name in the metadata field `collection`. `default` contains the documents without that field. If absent, all documents. */
            collection?: string | null;
            /** @description Identifies the conversation, so that state kept by tools, such as a sandbox, is available to the next request. Without it, no state is kept. */
            conversationId?: string | null;
            effort?: ("low" | "medium" | "high") | null;
            filter?: components["schemas"]["Filter"] | null;
            /** @description The conversation. The last user message is answered. */
            messages: {
                /** @description Text or blocks. Images in user messages are passed to models that support them; documents and search results are read; for kinds of blocks that are not supported, a note is inserted instead. */
                content: string | (components["schemas"]["AnthropicTextBlock"] | components["schemas"]["AnthropicImageBlock"] | components["schemas"]["AnthropicDocumentBlock"] | components["schemas"]["AnthropicRedactedThinkingBlock"] | ({
                    /** @description Kind of the block. A block that is not supported is replaced by a note. */
                    type: string;
                } & {
                    [key: string]: unknown;
                }) | components["schemas"]["AnthropicToolUseBlock"] | components["schemas"]["AnthropicToolResultBlock"] | components["schemas"]["AnthropicSearchResultBlock"])[];
                /**
                 * @description Who speaks.
                 * @enum {string}
                 */
                role: "user" | "assistant" | "system";
            }[];
            /** @description Leaves out chunks with a lower `score`, 0 to 1: an answer may then have no hits. */
            minScore?: number | null;
            mode?: ("hybrid" | "lexical" | "dense") | null;
            /** @description The agent, `<agent>:<collection>`, or `<agent>-plain` for the model without documents and tools. Any other name also selects the agent. */
            model?: string | null;
            /** @description Options of the answer. */
            output_config?: {
                /** @description How much the model should think; passed on. */
                effort?: ("low" | "medium" | "high" | "xhigh" | "max") | null;
                /** @description The format of the answer. */
                format?: {
                    /** @description JSON Schema of the answer. */
                    schema: {
                        [key: string]: unknown;
                    };
                    /** @constant */
                    type: "json_schema";
                } | null;
            } | null;
            resume?: components["schemas"]["Resume"] | null;
            /**
             * @description Whether a follow-up that cannot be understood alone is rewritten before the search. The chat model rewrites it as a standalone question in a separate call, which counts towards the usage; without a generating model, it is searched for together with the previous questions.
             * @default true
             */
            rewrite?: boolean | null;
            /** @description Instructions to the agent. */
            system?: (string | components["schemas"]["AnthropicTextBlock"][]) | null;
            /** @description Unless its type is `disabled`, the model’s reasoning is also sent. */
            thinking?: {
                /** @description `disabled`, or any other kind. */
                type: string;
            } | null;
            /** @description Refused with `error.details.error_code`: threads are not kept. */
            thread?: {
                [key: string]: unknown;
            } | null;
            /** @description Which of the client’s tools the model may or must call. */
            tool_choice?: ({
                /**
                 * @description Whether the model may call a tool (`auto`), must (`any`), or must not (`none`).
                 * @enum {string}
                 */
                type: "auto" | "any" | "none";
            } | {
                /** @description Name of the tool to call. */
                name: string;
                /** @constant */
                type: "tool";
            }) | null;
            /** @description The client’s own tools. Calls to them are returned as `tool_use`. */
            tools?: ({
                /** @description What the tool does, for the model. */
                description?: string | null;
                /** @description JSON Schema of its arguments. */
                input_schema: {
                    [key: string]: unknown;
                };
                /** @description Name of the tool. */
                name: string;
                /** @description `custom`, if given. */
                type?: "custom" | null;
            } | ({
                /** @description Name of the tool. */
                name?: string | null;
                /** @description Any other type: the tool is left out, and named in the header `warnings`. */
                type: string;
            } & {
                [key: string]: unknown;
            }))[] | null;
            /** @description Maximum number of context chunks to retrieve, up to 100; 0 retrieves none. Default: the server's TOP_K. */
            topK?: number | null;
        };
        AnthropicDocumentBlock: {
            /** @description The document, which the server reads; any other source is refused. */
            source: {
                /** @description Text of the document. */
                data: string;
                /** @constant */
                type: "text";
            } | {
                /** @description The file in base64. */
                data: string;
                /** @description Media type of the file. */
                media_type?: string | null;
                /** @constant */
                type: "base64";
            } | {
                /**
                 * @description A file that was uploaded before.
                 * @example doc_0198c5f28f2e7c1b
                 */
                file_id: string;
                /** @constant */
                type: "file";
            } | {
                /** @description Text of the document. */
                content: string | ({
                    /** @description Text of the block. */
                    text: string;
                    /** @constant */
                    type: "text";
                } & {
                    [key: string]: unknown;
                })[];
                /** @constant */
                type: "content";
            } | ({
                /** @description Kind of the source. */
                type: string;
            } & {
                [key: string]: unknown;
            });
            /** @description Title of the document. */
            title?: string | null;
            /** @constant */
            type: "document";
        };
        AnthropicError: {
            /** @description Why the request failed. */
            error: {
                /** @description Stable error code, listed in docs/reference/errors.md. */
                code: string;
                /** @description What Anthropic’s clients look for. */
                details?: {
                    /** @description Why threads are refused. */
                    error_code: string;
                };
                /** @description What went wrong and how to fix it. */
                message: string;
                /** @description Dotted path of the invalid field, or null. */
                param: string | null;
                /** @description The category of the error, in the words of the protocol. */
                type: string;
            };
            /** @description Identifies the request; also in the log. */
            request_id: string;
            /** @constant */
            type: "error";
        };
        /** @description The JSON object in each `data` line; its `type` is also the name of the event. */
        AnthropicEvent: components["schemas"]["AnthropicEventMessageStart"] | components["schemas"]["AnthropicEventContentBlockStart"] | components["schemas"]["AnthropicEventContentBlockDelta"] | components["schemas"]["AnthropicEventContentBlockStop"] | components["schemas"]["AnthropicEventMessageDelta"] | components["schemas"]["AnthropicEventMessageStop"] | components["schemas"]["AnthropicError"];
        AnthropicEventContentBlockDelta: {
            /** @description What is added to the block. */
            delta: {
                /** @description The next fragment of the text. */
                text: string;
                /** @constant */
                type: "text_delta";
            } | {
                /** @description The next fragment of the reasoning. */
                thinking: string;
                /** @constant */
                type: "thinking_delta";
            } | {
                /** @description The next fragment of the arguments, in JSON. */
                partial_json: string;
                /** @constant */
                type: "input_json_delta";
            } | {
                /** @description What the text cites. */
                citation: components["schemas"]["AnthropicCitation"];
                /** @constant */
                type: "citations_delta";
            };
            /** @description Position of the block in the answer, from 0. */
            index: number;
            /** @constant */
            type: "content_block_delta";
        };
        AnthropicEventContentBlockStart: {
            /** @description The block, still without content. */
            content_block: components["schemas"]["AnthropicContentBlock"];
            /** @description Position of the block in the answer, from 0. */
            index: number;
            /** @constant */
            type: "content_block_start";
        };
        AnthropicEventContentBlockStop: {
            /** @description Position of the block in the answer, from 0. */
            index: number;
            /** @constant */
            type: "content_block_stop";
        };
        AnthropicEventMessageDelta: {
            agent?: components["schemas"]["AgentExtra"];
            /** @description How the answer ended. */
            delta: {
                /**
                 * @description Why the answer ended.
                 * @enum {string}
                 */
                stop_reason: "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "refusal";
                /** @description Which of `stop_sequences` ended the text, if the model’s server says so. */
                stop_sequence: string | null;
            };
            /** @constant */
            type: "message_delta";
            /** @description Tokens of the run. */
            usage: components["schemas"]["AnthropicUsage"];
        };
        AnthropicEventMessageStart: {
            /** @description The answer, still without content. */
            message: components["schemas"]["AnthropicMessage"];
            /** @constant */
            type: "message_start";
        };
        AnthropicEventMessageStop: {
            /** @constant */
            type: "message_stop";
        };
        AnthropicImageBlock: {
            /** @description The image. */
            source: {
                /** @description The image in base64. */
                data: string;
                /**
                 * @description Media type of the image.
                 * @enum {string}
                 */
                media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp";
                /** @constant */
                type: "base64";
            } | {
                /** @constant */
                type: "url";
                /** @description HTTPS URL of the image. */
                url: string;
            };
            /** @constant */
            type: "image";
        };
        AnthropicMessage: {
            agent?: components["schemas"]["AgentExtra"];
            /** @description The answer. */
            content: components["schemas"]["AnthropicContentBlock"][];
            /** @description Identifier of the answer. */
            id: string;
            /** @description Name of the agent. */
            model: string;
            /** @constant */
            role: "assistant";
            /** @description Why the answer ended; `agent.finishReason` is more precise. */
            stop_reason: ("end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "refusal") | null;
            /** @description Which of `stop_sequences` ended the text, if the model’s server says so. */
            stop_sequence: string | null;
            /** @constant */
            type: "message";
            /** @description Tokens of the run. */
            usage: components["schemas"]["AnthropicUsage"];
        };
        AnthropicRedactedThinkingBlock: {
            /** @description Reasoning of the model, as it was received. */
            data: string;
            /** @constant */
            type: "redacted_thinking";
        };
        /**
         * @example {
         *       "model": "agent",
         *       "max_tokens": 1024,
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "When does the library open?"
         *         }
         *       ]
         *     }
         */
        AnthropicRequest: {
            citationCheck?: ("words" | "model") | null;
            /** @description Only documents in this collection, that is, with this name in the metadata field `collection`. `default` contains the documents without that field. If absent, all documents. */
            collection?: string | null;
            /** @description Identifies the conversation, so that state kept by tools, such as a sandbox, is available to the next request. Without it, no state is kept. */
            conversationId?: string | null;
            effort?: ("low" | "medium" | "high") | null;
            filter?: components["schemas"]["Filter"] | null;
            /** @description Maximum number of tokens that the model may generate per call. */
            max_tokens?: number | null;
            /** @description The conversation. The last user message is answered. */
            messages: {
                /** @description Text or blocks. Images in user messages are passed to models that support them; documents and search results are read; for kinds of blocks that are not supported, a note is inserted instead. */
                content: string | (components["schemas"]["AnthropicTextBlock"] | components["schemas"]["AnthropicImageBlock"] | components["schemas"]["AnthropicDocumentBlock"] | components["schemas"]["AnthropicRedactedThinkingBlock"] | ({
                    /** @description Kind of the block. A block that is not supported is replaced by a note. */
                    type: string;
                } & {
                    [key: string]: unknown;
                }) | components["schemas"]["AnthropicToolUseBlock"] | components["schemas"]["AnthropicToolResultBlock"] | components["schemas"]["AnthropicSearchResultBlock"])[];
                /**
                 * @description Who speaks.
                 * @enum {string}
                 */
                role: "user" | "assistant" | "system";
            }[];
            /** @description Leaves out chunks with a lower `score`, 0 to 1: an answer may then have no hits. */
            minScore?: number | null;
            mode?: ("hybrid" | "lexical" | "dense") | null;
            /** @description The agent, `<agent>:<collection>`, or `<agent>-plain` for the model without documents and tools. Any other name also selects the agent. */
            model?: string | null;
            /** @description Options of the answer. */
            output_config?: {
                /** @description How much the model should think; passed on. */
                effort?: ("low" | "medium" | "high" | "xhigh" | "max") | null;
                /** @description The format of the answer. */
                format?: {
                    /** @description JSON Schema of the answer. */
                    schema: {
                        [key: string]: unknown;
                    };
                    /** @constant */
                    type: "json_schema";
                } | null;
            } | null;
            resume?: components["schemas"]["Resume"] | null;
            /**
             * @description Whether a follow-up that cannot be understood alone is rewritten before the search. The chat model rewrites it as a standalone question in a separate call, which counts towards the usage; without a generating model, it is searched for together with the previous questions.
             * @default true
             */
            rewrite?: boolean | null;
            /** @description Texts at which the model stops. */
            stop_sequences?: string[] | null;
            /** @description Whether to stream events. Default: false. */
            stream?: boolean | null;
            /** @description Instructions to the agent. */
            system?: (string | components["schemas"]["AnthropicTextBlock"][]) | null;
            /** @description Passed to the model. */
            temperature?: number | null;
            /** @description Unless its type is `disabled`, the model’s reasoning is also sent. */
            thinking?: {
                /** @description `disabled`, or any other kind. */
                type: string;
            } | null;
            /** @description Refused with `error.details.error_code`: threads are not kept. */
            thread?: {
                [key: string]: unknown;
            } | null;
            /** @description Which of the client’s tools the model may or must call. */
            tool_choice?: ({
                /**
                 * @description Whether the model may call a tool (`auto`), must (`any`), or must not (`none`).
                 * @enum {string}
                 */
                type: "auto" | "any" | "none";
            } | {
                /** @description Name of the tool to call. */
                name: string;
                /** @constant */
                type: "tool";
            }) | null;
            /** @description The client’s own tools. Calls to them are returned as `tool_use`. */
            tools?: ({
                /** @description What the tool does, for the model. */
                description?: string | null;
                /** @description JSON Schema of its arguments. */
                input_schema: {
                    [key: string]: unknown;
                };
                /** @description Name of the tool. */
                name: string;
                /** @description `custom`, if given. */
                type?: "custom" | null;
            } | ({
                /** @description Name of the tool. */
                name?: string | null;
                /** @description Any other type: the tool is left out, and named in the header `warnings`. */
                type: string;
            } & {
                [key: string]: unknown;
            }))[] | null;
            /** @description Passed to the model. */
            top_p?: number | null;
            /** @description Maximum number of context chunks to retrieve, up to 100; 0 retrieves none. Default: the server's TOP_K. */
            topK?: number | null;
        };
        AnthropicSearchResultBlock: {
            /** @description The passages, which the model reads. */
            content: components["schemas"]["AnthropicTextBlock"][];
            /** @description Where it is from. */
            source: string;
            /** @description Title of what was found. */
            title: string;
            /** @constant */
            type: "search_result";
        };
        AnthropicTextBlock: {
            /** @description Text of the block. */
            text: string;
            /** @constant */
            type: "text";
        };
        AnthropicTokenCount: {
            /** @description Estimated from the length of what was sent. The server adds its rules and the passages that it finds. */
            input_tokens: number;
        };
        AnthropicToolResultBlock: {
            /** @description The result. */
            content?: (string | (components["schemas"]["AnthropicTextBlock"] | components["schemas"]["AnthropicImageBlock"] | components["schemas"]["AnthropicDocumentBlock"] | components["schemas"]["AnthropicRedactedThinkingBlock"] | ({
                /** @description Kind of the block. A block that is not supported is replaced by a note. */
                type: string;
            } & {
                [key: string]: unknown;
            }) | components["schemas"]["AnthropicSearchResultBlock"])[]) | null;
            /** @description Whether the call failed. */
            is_error?: boolean | null;
            /** @description The `id` of the call. */
            tool_use_id: string;
            /** @constant */
            type: "tool_result";
        };
        AnthropicToolUseBlock: {
            /** @description Identifier of the call. */
            id: string;
            /** @description Arguments of the call. */
            input: {
                [key: string]: unknown;
            };
            /** @description Name of the tool. */
            name: string;
            /** @constant */
            type: "tool_use";
        };
        /** @description Total tokens of all model calls in the run. */
        AnthropicUsage: {
            /** @description Tokens that the model wrote to its cache; 0 if it does not report them. */
            cache_creation_input_tokens: number;
            /** @description Tokens that the model took from its cache; 0 if it does not report them. */
            cache_read_input_tokens: number;
            /** @description Tokens of the prompts, without those that the model took from its cache or wrote to it. */
            input_tokens: number;
            /** @description Tokens that the model generated. */
            output_tokens: number;
        };
        ApiKey: {
            /** @description The only collections the key can read and write; if absent, all. Cannot be combined with `admin`. */
            collections?: string[];
            /** @description Limit on what model calls cost per UTC day across all servers, by the `prices` in `agent.json`. The last call may exceed it; models without a price cost nothing. */
            costPerDay?: number;
            /**
             * Format: date-time
             * @description When the key was created.
             */
            createdAt: string;
            /** @description Identifier of the key or person that created it; absent for the SERVER_API_KEY. It is revoked together with that key, or removed together with that person. */
            createdBy?: string;
            /**
             * Format: date-time
             * @description The key is refused from this time on.
             */
            expiresAt?: string;
            /** @description Identifier of the key, as shown in the log. Not a secret. */
            id: string;
            /**
             * Format: date-time
             * @description When the key was last used, accurate to a few seconds; absent if it never was.
             */
            lastUsedAt?: string;
            /** @description Name of the key, shown in the log and the web UI. */
            name: string;
            /** @description Limit per server; unlimited if absent. */
            requestsPerMinute?: number;
            /** @description What the key permits. `query`: search and read documents; `chat`: ask the agent; `ingest`: add, change and delete documents; `admin`: administer the server; `act-as`: speak for people with the header `Agent-User`. */
            scopes: ("query" | "chat" | "ingest" | "admin" | "act-as")[];
            /** @description Limit on model tokens, sent and received, per UTC day across all servers. The last call of a model may exceed it. */
            tokensPerDay?: number;
            /** @description Model tokens used in the current UTC day; may be a few seconds old. */
            tokensToday: number;
        };
        ApiKeyCreated: {
            /** @description The only collections the key can read and write; if absent, all. Cannot be combined with `admin`. */
            collections?: string[];
            /** @description Limit on what model calls cost per UTC day across all servers, by the `prices` in `agent.json`. The last call may exceed it; models without a price cost nothing. */
            costPerDay?: number;
            /**
             * Format: date-time
             * @description When the key was created.
             */
            createdAt: string;
            /** @description Identifier of the key or person that created it; absent for the SERVER_API_KEY. It is revoked together with that key, or removed together with that person. */
            createdBy?: string;
            /**
             * Format: date-time
             * @description The key is refused from this time on.
             */
            expiresAt?: string;
            /** @description Identifier of the key, as shown in the log. Not a secret. */
            id: string;
            /**
             * Format: date-time
             * @description When the key was last used, accurate to a few seconds; absent if it never was.
             */
            lastUsedAt?: string;
            /** @description Name of the key, shown in the log and the web UI. */
            name: string;
            /** @description Limit per server; unlimited if absent. */
            requestsPerMinute?: number;
            /** @description What the key permits. `query`: search and read documents; `chat`: ask the agent; `ingest`: add, change and delete documents; `admin`: administer the server; `act-as`: speak for people with the header `Agent-User`. */
            scopes: ("query" | "chat" | "ingest" | "admin" | "act-as")[];
            /** @description The secret that clients send. It is shown only once and is not stored. */
            secret: string;
            /** @description Limit on model tokens, sent and received, per UTC day across all servers. The last call of a model may exceed it. */
            tokensPerDay?: number;
            /** @description Model tokens used in the current UTC day; may be a few seconds old. */
            tokensToday: number;
        };
        ApiKeyList: {
            /** @description All keys, including those that programs received by signing in. */
            keys: components["schemas"]["ApiKey"][];
        };
        /** @description Tool calls that wait for the client’s approval, or for answers to what an MCP server asks. Send the same request again with `resume`. */
        Approval: {
            /** @description The calls that wait. If they have no `elicitations`, no call of this round has been executed. */
            calls: {
                /** @description Identifies the call; send it back in `resume`. */
                callId: string;
                /** @description What the tool’s MCP server asks before it goes on with this call. Approve the call and send `answers`, or leave it out of `approved` to decline. */
                elicitations?: components["schemas"]["Elicitation"][];
                /** @description Arguments of the call. */
                input: unknown;
                /** @description Name of the tool. */
                tool: string;
            }[];
            /** @description Send this back in `resume`, once, within 24 hours. */
            state: string;
        };
        /** @description Tool calls wait for the client’s approval, or for answers to what an MCP server asks. `done` follows with `approval_required`. Send the same request with `resume` to continue. */
        ApprovalRequiredFrame: {
            /** @description The calls that wait. If they have no `elicitations`, no call of this round has been executed. */
            calls: {
                /** @description Identifies the call; send it back in `resume`. */
                callId: string;
                /** @description What the tool’s MCP server asks before it goes on with this call. Approve the call and send `answers`, or leave it out of `approved` to decline. */
                elicitations?: components["schemas"]["Elicitation"][];
                /** @description Arguments of the call. */
                input: unknown;
                /** @description Name of the tool. */
                tool: string;
            }[];
            /** @description Send this back in `resume`, once, within 24 hours. */
            state: string;
            /** @constant */
            type: "approval-required";
        };
        /**
         * @description A file created by a tool.
         * @example {
         *       "id": "art_0198c5f28f2e7c1b9d580c9f5f0f4a11",
         *       "name": "sales.png",
         *       "mediaType": "image/png",
         *       "size": 6021,
         *       "url": "/artifacts/art_0198c5f28f2e7c1b9d580c9f5f0f4a11",
         *       "expiresAt": "2026-11-28T09:30:00.000Z"
         *     }
         */
        Artifact: {
            /**
             * Format: date-time
             * @description When the file is deleted; it may be deleted earlier to make room for newer artifacts, first of the key that has the most.
             */
            expiresAt: string;
            /** @description Identifier of the artifact. */
            id: string;
            /** @description Path on this server that works without a key for ten minutes. A stored answer has a new one each time a person reads it. */
            link?: string;
            /** @description Media type of the file. */
            mediaType: string;
            /** @description File name without a path. */
            name: string;
            /** @description Size in bytes. */
            size: number;
            /** @description Path on this server; requires a key. */
            url: string;
        };
        AuditEntry: {
            /** @description The `operationId` of a change or an export, or `signIn`, `signInFailed`, `signOut`, `read`. */
            action: string;
            /** @description Address of the caller; absent for what a run did. */
            address?: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description Number of the entry, in order; a gap is an entry that was never written. */
            number: number;
            /** @description The HTTP status of the answer, if there is one. */
            status?: number;
            /** @description Identifiers of the objects concerned, and names of the fields that changed; no content. */
            targets: {
                [key: string]: string | string[];
            };
            /** @description The person, `user:…`; the key, `key:…`; `master` for the SERVER_API_KEY; `stranger` for a caller that was refused. */
            who: string;
        };
        AuditPage: {
            /** @description The newest first. */
            entries: components["schemas"]["AuditEntry"][];
            /** @description Of the next page; absent on the last one. */
            nextCursor?: string;
        };
        /** @description The document was not stored; send it again. */
        BatchFailure: {
            error: components["schemas"]["DocumentError"];
        };
        Capabilities: {
            /** @description The chat model. */
            chat: {
                /**
                 * @description Protocol in which the model’s server is asked, as configured or learned; absent for a model that needs no server.
                 * @enum {string}
                 */
                api?: "responses" | "chat-completions" | "messages";
                /** @description Whether the chat model accepts images, as `profile.images` of `GET /agent` says to all. If its server does not say, true until it refuses one. */
                images: boolean;
                /** @description Enabled tools left out because the context window is too small. */
                leftOut?: string[];
                /** @description Name of the chat model. */
                model: string;
                /** @description What the model’s server has refused since the start, and what is done instead. */
                refused?: string[];
                /** @description Whether the chat model calls tools. */
                tools: boolean;
                /** @description Size of the context window in tokens: the configured size or, if smaller, the size reported by the model’s server. */
                window: number;
            };
            /** @description The model that creates embeddings for vector search. */
            embedder: {
                /**
                 * @description `builtin`: runs in a process of this server. `remote`: runs elsewhere, and is called over HTTP.
                 * @enum {string}
                 */
                kind?: "builtin" | "remote";
                /** @description Chunks that have no embedding yet and are found by keywords only; see `/readiness`. */
                missing?: number;
                /** @description Name of the embedding model. */
                model?: string;
                /** @description Why the embedding model is off or unavailable. */
                reason?: string;
                /**
                 * @description `off`: disabled by configuration. `unavailable`: enabled but not working, see `reason`.
                 * @enum {string}
                 */
                state: "on" | "off" | "unavailable";
            };
            /** @description The configured connections to MCP servers. */
            mcp: {
                /** @description Name of the connection in `agent.json`. */
                name: string;
                /** @description Each person has an account of their own there: see `GET /agent/accounts`. */
                perPerson?: boolean;
                /** @description Version of the Model Context Protocol that both speak. */
                protocol?: string;
                /** @description Why the connection is unavailable. */
                reason?: string;
                /** @description Tools that cannot be used as the server defines them. */
                refused?: {
                    /** @description Name of the tool, as the model would see it. */
                    name: string;
                    /** @description What is wrong with its definition. */
                    reason: string;
                }[];
                /**
                 * @description `off`: disabled by configuration. `unavailable`: enabled but not working, see `reason`.
                 * @enum {string}
                 */
                state: "on" | "off" | "unavailable";
                /** @description Number of usable tools. */
                tools?: number;
                /**
                 * @description The transport in use.
                 * @enum {string}
                 */
                transport?: "streamable-http" | "sse";
                /** @description The configured URL, with variables not replaced. */
                url: string;
                /** @description Tools that are new or have changed since they were accepted and cannot be used yet: see `POST /agent/mcp/{connection}/test`. */
                waiting?: string[];
            }[];
            /** @description The configured plugins. */
            plugins: {
                /** @description Name of the plugin. */
                name: string;
                /** @description Why the plugin is unavailable. */
                reason?: string;
                /**
                 * @description `off`: disabled by configuration. `unavailable`: enabled but not working, see `reason`.
                 * @enum {string}
                 */
                state: "on" | "off" | "unavailable";
            }[];
            /** @description The model that reranks search results. */
            reranker: {
                /** @description Name of the reranking model. */
                model?: string;
                /** @description Why the reranking model is off or unavailable. */
                reason?: string;
                /**
                 * @description `off`: disabled by configuration. `unavailable`: enabled but not working, see `reason`.
                 * @enum {string}
                 */
                state: "on" | "off" | "unavailable";
            };
            /** @description Whether the agent configuration on disk differs from the running one. */
            restartRequired: boolean;
            /**
             * @description `lexical`: BM25 only. `hybrid`: BM25 combined with embeddings.
             * @enum {string}
             */
            retrieval: "lexical" | "hybrid";
            sandbox: components["schemas"]["Sandbox"];
            /** @description All configured skills. */
            skills: {
                /** @description What the skill is for, as the model is told. */
                description: string;
                /** @description Name of the skill. */
                name: string;
                /** @description Why the skill is unavailable. */
                reason?: string;
                /** @description The source in `agent.json` that it comes from. */
                source?: string;
                /**
                 * @description `off`: disabled by configuration. `unavailable`: enabled but not working, see `reason`.
                 * @enum {string}
                 */
                state: "on" | "off" | "unavailable";
                /** @description Deviations from the skill format that were tolerated. */
                warnings?: string[];
            }[];
        };
        /**
         * @description The JSON object in the `data` field of each server-sent event.
         * @example {
         *       "type": "text-delta",
         *       "text": "At nine on weekdays [1]."
         *     }
         */
        ChatFrame: components["schemas"]["TurnStartFrame"] | components["schemas"]["DraftFrame"] | components["schemas"]["TextDeltaFrame"] | components["schemas"]["SearchStepFrame"] | components["schemas"]["RetrievedFrame"] | components["schemas"]["ToolCallFrame"] | components["schemas"]["ToolProgressFrame"] | components["schemas"]["ToolResultFrame"] | components["schemas"]["ReasoningDeltaFrame"] | components["schemas"]["ProgressFrame"] | components["schemas"]["CitationsFrame"] | components["schemas"]["ApprovalRequiredFrame"] | components["schemas"]["DoneFrame"] | components["schemas"]["ErrorFrame"];
        ChatMessage: {
            /** @description Message text. */
            content: string;
            /** @description Images of a user message, as data URLs, for a model that accepts images: see `chat.images` in `/agent/capabilities`. Other models refuse the request. */
            images?: string[];
            /**
             * @description Who speaks: the user, the agent (`assistant`), or whoever runs the client (`system`).
             * @enum {string}
             */
            role: "user" | "assistant" | "system";
        };
        /**
         * @example {
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "When does the library open?"
         *         }
         *       ]
         *     }
         */
        ChatRequest: {
            /** @description Which agent answers, by its name under `agents` in `agent.json`: see `agents` in `GET /agent`. If absent, the file’s own. */
            agent?: string | null;
            citationCheck?: ("words" | "model") | null;
            /** @description Only documents in this collection, that is, with this name in the metadata field `collection`. `default` contains the documents without that field. If absent, all documents. */
            collection?: string | null;
            /** @description Stores question and answer in this conversation, and takes the earlier messages from it: `messages` is only the question. The answer is generated to its end even if the client disconnects; it can be followed again with `GET /v1/conversations/{id}/items/{item}/events`. */
            conversation?: {
                /** @description From `POST /v1/conversations`. */
                id: string;
                /** @description The item that the question follows; null begins a new branch at the start. Default: the last item of the current branch. With `resume`, the answer to continue. */
                parent?: string | null;
            } | null;
            /** @description Identifies the conversation, so that state kept by tools, such as a sandbox, is available to the next request. Without it, no state is kept. */
            conversationId?: string | null;
            effort?: ("low" | "medium" | "high") | null;
            filter?: components["schemas"]["Filter"] | null;
            /**
             * @description Whether to also stream steps of the search, tool calls, tool results, reasoning and progress.
             * @default false
             */
            includeSteps?: boolean | null;
            /** @description The conversation. The last user message is answered. */
            messages: components["schemas"]["ChatMessage"][];
            /** @description Leaves out chunks with a lower `score`, 0 to 1: an answer may then have no hits. */
            minScore?: number | null;
            mode?: ("hybrid" | "lexical" | "dense") | null;
            /**
             * @description How much the model reasons, in its provider’s words: `none`, `low`, `medium`, `high` … Default: CHAT_REASONING_EFFORT, or else the model’s own.
             * @example low
             */
            reasoningEffort?: string | null;
            resume?: components["schemas"]["Resume"] | null;
            /**
             * @description Whether a follow-up that cannot be understood alone is rewritten before the search. The chat model rewrites it as a standalone question in a separate call, which counts towards the usage; without a generating model, it is searched for together with the previous questions.
             * @default true
             */
            rewrite?: boolean | null;
            /** @description Maximum number of context chunks to retrieve, up to 100; 0 retrieves none. Default: the server's TOP_K. */
            topK?: number | null;
        };
        /** @description A passage of a document; its fields have the same meaning as those of a hit. */
        Chunk: {
            /** @description End offset in the document (exclusive). */
            end: number;
            /** @description Headings above the chunk, outermost first, joined by ` > `. */
            heading?: string;
            /** @description Chunk identifier, as in hits. */
            id: string;
            /** @description Page or slide on which the chunk begins, from 1. */
            page?: number;
            /** @description Page or slide on which the chunk ends. */
            pageEnd?: number;
            /** @description `text` is a description of a picture by the chat model, not text of the document; `start` and `end` are where the picture is. Absent otherwise. */
            pictureDescription?: boolean;
            /** @description Start offset in the document, in UTF-16 code units. */
            start: number;
            /** @description Chunk text. */
            text: string;
        };
        ChunkList: {
            /** @description Chunks in the order of the text. */
            chunks: components["schemas"]["Chunk"][];
            /** @description Send as `cursor` to get the next page; absent on the last page. Becomes invalid when the document is replaced. */
            nextCursor?: string;
        };
        Citation: {
            /** @description Position of `[n]` in the answer, in UTF-16 code units. */
            at: number;
            /**
             * @description Who wrote the mark: `server` where it was added, or put in the place of the model’s. Absent in answers that an earlier version stored.
             * @enum {string}
             */
            by?: "model" | "server";
            /** @description The words of the hit that decide, as the chat model copied them. */
            evidence?: string;
            /** @description The number: the position of the cited hit, from 1. */
            number: number;
            /** @description Up to three sentences of the hit that are closest to the statement before the citation, in the order of the text. Empty if none shares a word with it. */
            quotes: {
                /** @description End offset in the document (exclusive). */
                end?: number;
                /** @description Page or slide on which the quote begins. */
                page?: number;
                /** @description Start offset in the document, in UTF-16 code units. Absent for rows of tables. */
                start?: number;
                /** @description The sentence. */
                text: string;
            }[];
            /** @description False if the hit lacks most words, a number or a name of the statement, or says the opposite. Words are compared, unless there is a `verdict`. Absent if the languages seem to differ. */
            supported?: boolean;
            /**
             * @description What the chat model says, if it was asked: the hit says so, says otherwise, or neither. `supported` is true for the first only.
             * @enum {string}
             */
            verdict?: "supported" | "contradicted" | "not_said";
        };
        /** @description The citations of the answer, whose text is complete: first as compared by words, while the chat model checks them, then with its verdicts. Only with `citationCheck: model`. */
        CitationsFrame: {
            /** @description All citations of the answer, as far as they are checked. */
            citations: components["schemas"]["Citation"][];
            /** @constant */
            type: "citations";
        };
        /** @description A collection of documents; its lists are shown to whoever may change them. */
        Collection: {
            /** @description Who may read the documents that have no `access` of their own: `user:<id>`, `group:<id>` or `public`, for everybody who has signed in. */
            access?: string[];
            /** @description Who may also add documents, and change their own. */
            contributors?: string[];
            /**
             * Format: date-time
             * @description When it was created; absent if it exists only by the documents in it.
             */
            createdAt?: string;
            /** @description The person who created it, as `user:<id>`. */
            creator?: string;
            /** @description Number of its documents that your queries find. */
            documents: number;
            /** @description Name of a collection; `default` contains the documents that are in none. */
            name: string;
            /** @description Who may also change and delete all documents that they may read, and these lists. */
            owners?: string[];
            /**
             * @description What you may do in it as a person; absent for API keys and administrators, who may do what an owner may, and if you may only read single documents.
             * @enum {string}
             */
            role?: "reader" | "contributor" | "owner";
        };
        CollectionList: {
            /** @description Those that you may see: `default` first, then those with the most documents. */
            collections: components["schemas"]["Collection"][];
        };
        /**
         * @example {
         *       "access": [
         *         "group:staff"
         *       ]
         *     }
         */
        CollectionPatch: {
            /** @description Who may read the documents that have no `access` of their own: `user:<id>`, `group:<id>` or `public`, for everybody who has signed in. */
            access?: string[];
            /** @description Who may also add documents, and change their own. */
            contributors?: string[];
            /** @description Lists as you read them: if somebody has changed one of them, nothing is saved and the response is 409 `edit_conflict`. */
            expected?: {
                /** @description Who may read the documents that have no `access` of their own: `user:<id>`, `group:<id>` or `public`, for everybody who has signed in. */
                access?: string[];
                /** @description Who may also add documents, and change their own. */
                contributors?: string[];
                /** @description Who may also change and delete all documents that they may read, and these lists. */
                owners?: string[];
            };
            /** @description Who may also change and delete all documents that they may read, and these lists. */
            owners?: string[];
        };
        Completion: {
            agent: components["schemas"]["AgentExtra"];
            /** @description The answer: always one choice. */
            choices: {
                /**
                 * @description Why the answer ended; `agent.finishReason` is more precise.
                 * @enum {string}
                 */
                finish_reason: "stop" | "length" | "tool_calls" | "content_filter";
                /** @description Always 0. */
                index: number;
                /** @description Always null. */
                logprobs: string | null;
                /** @description The answer. */
                message: {
                    /** @description One annotation for each citation `[n]`: with the web URL of the document, or its page in the web UI. */
                    annotations?: components["schemas"]["UrlCitation"][];
                    /** @description Text of the answer; null if there are only tool calls. */
                    content: string | null;
                    /** @description The model’s thinking, if it shows it; send it back unchanged with the results of calls. */
                    reasoning_content?: string;
                    /** @description The model’s reasoning; send it back unchanged with the results of the calls. */
                    reasoning_details?: unknown[];
                    /** @description Always null. */
                    refusal: string | null;
                    /** @constant */
                    role: "assistant";
                    /** @description Calls of the client’s own tools. */
                    tool_calls?: {
                        /** @description Data of the model’s provider; send it back unchanged. */
                        extra_content?: unknown;
                        /** @description The function to call. */
                        function: {
                            /** @description Its arguments, in JSON. */
                            arguments: string;
                            /** @description Name of the function. */
                            name: string;
                        };
                        /** @description Identifier of the call. */
                        id: string;
                        /** @constant */
                        type: "function";
                    }[];
                };
            }[];
            /** @description When it was created, in seconds since 1970. */
            created: number;
            /** @description Identifier of the completion. */
            id: string;
            /** @description Name of the agent. */
            model: string;
            /** @constant */
            object: "chat.completion";
            /** @description Tokens of the run; absent if the model does not report them. */
            usage?: components["schemas"]["CompletionUsage"];
        };
        /** @description The JSON object in each `data` line; the stream ends with `data: [DONE]`. */
        CompletionChunk: {
            /** @description What led to the answer, in the chunk with `finish_reason`. */
            agent?: components["schemas"]["AgentExtra"];
            /** @description One choice; none in the chunk with the usage. */
            choices: {
                /** @description What is added to the message. */
                delta: {
                    /** @description One annotation for each citation `[n]`: with the web URL of the document, or its page in the web UI. */
                    annotations?: components["schemas"]["UrlCitation"][];
                    /** @description The next fragment of the answer. */
                    content?: string;
                    /** @description The model’s thinking, if it shows it; send it back unchanged with the results of calls. */
                    reasoning_content?: string;
                    /** @description The model’s reasoning; send it back unchanged with the results of the calls. */
                    reasoning_details?: unknown[];
                    /** @constant */
                    role?: "assistant";
                    /** @description Calls of the client’s own tools. */
                    tool_calls?: {
                        /** @description Data of the model’s provider; send it back unchanged. */
                        extra_content?: unknown;
                        /** @description The function to call. */
                        function: {
                            /** @description Its arguments, in JSON. */
                            arguments: string;
                            /** @description Name of the function. */
                            name: string;
                        };
                        /** @description Identifier of the call. */
                        id: string;
                        /** @description Position among the calls, from 0. */
                        index: number;
                        /** @constant */
                        type: "function";
                    }[];
                };
                /** @description Why the answer ended; null before the end. */
                finish_reason: ("stop" | "length" | "tool_calls" | "content_filter") | null;
                /** @description Always 0. */
                index: number;
                /** @description Always null. */
                logprobs: string | null;
            }[];
            /** @description When it was created, in seconds since 1970. */
            created: number;
            /** @description Identifier of the completion. */
            id: string;
            /** @description Name of the agent. */
            model: string;
            /** @constant */
            object: "chat.completion.chunk";
            /** @description Tokens of the run, in a last chunk of its own, if `include_usage` asks for it. */
            usage?: components["schemas"]["CompletionUsage"] | null;
        };
        CompletionMessage: components["schemas"]["CompletionMessageSystem"] | components["schemas"]["CompletionMessageUser"] | components["schemas"]["CompletionMessageAssistant"] | components["schemas"]["CompletionMessageTool"];
        CompletionMessageAssistant: {
            content?: (string | ({
                /** @description Text of the part. */
                text: string;
                /** @constant */
                type: "text";
            } | {
                /** @description The image. */
                image_url: {
                    /** @description How closely the model should look; passed on. */
                    detail?: string | null;
                    /** @description HTTPS URL, or the image as a data URL. */
                    url: string;
                };
                /** @constant */
                type: "image_url";
            } | {
                /** @description The file, which the server reads. */
                file: {
                    /** @description The file as a data URL or in base64. */
                    file_data?: string | null;
                    /**
                     * @description Instead of that, a file that was uploaded before.
                     * @example doc_0198c5f28f2e7c1b
                     */
                    file_id?: string | null;
                    /** @description Name of the file. */
                    filename?: string | null;
                } & {
                    [key: string]: unknown;
                };
                /** @constant */
                type: "file";
            } | ({
                /** @description Kind of the part. A part that is not supported is replaced by a note. */
                type: string;
            } & {
                [key: string]: unknown;
            }) | {
                /** @description Text with which the model declined. */
                refusal: string;
                /** @constant */
                type: "refusal";
            })[]) | null;
            /** @description Reasoning that came with the calls, to be sent back unchanged. */
            reasoning_content?: string | null;
            /** @description Reasoning that came with the calls, to be sent back unchanged. */
            reasoning_details?: {
                [key: string]: unknown;
            }[] | null;
            /** @description Text with which the model declined, in place of `content`. */
            refusal?: string | null;
            /** @constant */
            role: "assistant";
            /** @description Calls of the client’s own tools. */
            tool_calls?: ({
                /** @description Data that the model’s provider attached to the call and expects back with its result. */
                extra_content?: {
                    [key: string]: unknown;
                } | null;
                /** @description The function that was called. */
                function: {
                    /** @description Its arguments, in JSON. */
                    arguments: string;
                    /** @description Name of the function. */
                    name: string;
                };
                /** @description Identifier of the call. */
                id: string;
                /**
                 * @default function
                 * @constant
                 */
                type?: "function";
            } | {
                /** @description The tool that was called. */
                custom: {
                    /** @description What the tool was sent. */
                    input: string;
                    /** @description Name of the tool. */
                    name: string;
                };
                /** @description Identifier of the call. */
                id: string;
                /** @constant */
                type: "custom";
            })[] | null;
        };
        CompletionMessageSystem: {
            /** @description Text or parts. Images in user messages are passed to models that support them, and files are read; otherwise, and for all other kinds of parts, a note is inserted instead. Audio is refused. */
            content: string | ({
                /** @description Text of the part. */
                text: string;
                /** @constant */
                type: "text";
            } | {
                /** @description The image. */
                image_url: {
                    /** @description How closely the model should look; passed on. */
                    detail?: string | null;
                    /** @description HTTPS URL, or the image as a data URL. */
                    url: string;
                };
                /** @constant */
                type: "image_url";
            } | {
                /** @description The file, which the server reads. */
                file: {
                    /** @description The file as a data URL or in base64. */
                    file_data?: string | null;
                    /**
                     * @description Instead of that, a file that was uploaded before.
                     * @example doc_0198c5f28f2e7c1b
                     */
                    file_id?: string | null;
                    /** @description Name of the file. */
                    filename?: string | null;
                } & {
                    [key: string]: unknown;
                };
                /** @constant */
                type: "file";
            } | ({
                /** @description Kind of the part. A part that is not supported is replaced by a note. */
                type: string;
            } & {
                [key: string]: unknown;
            }) | {
                /** @description Text with which the model declined. */
                refusal: string;
                /** @constant */
                type: "refusal";
            })[];
            /**
             * @description Both mean the same: instructions to the agent.
             * @enum {string}
             */
            role: "system" | "developer";
        };
        CompletionMessageTool: {
            /** @description Text or parts. Images in user messages are passed to models that support them, and files are read; otherwise, and for all other kinds of parts, a note is inserted instead. Audio is refused. */
            content: string | ({
                /** @description Text of the part. */
                text: string;
                /** @constant */
                type: "text";
            } | {
                /** @description The image. */
                image_url: {
                    /** @description How closely the model should look; passed on. */
                    detail?: string | null;
                    /** @description HTTPS URL, or the image as a data URL. */
                    url: string;
                };
                /** @constant */
                type: "image_url";
            } | {
                /** @description The file, which the server reads. */
                file: {
                    /** @description The file as a data URL or in base64. */
                    file_data?: string | null;
                    /**
                     * @description Instead of that, a file that was uploaded before.
                     * @example doc_0198c5f28f2e7c1b
                     */
                    file_id?: string | null;
                    /** @description Name of the file. */
                    filename?: string | null;
                } & {
                    [key: string]: unknown;
                };
                /** @constant */
                type: "file";
            } | ({
                /** @description Kind of the part. A part that is not supported is replaced by a note. */
                type: string;
            } & {
                [key: string]: unknown;
            }) | {
                /** @description Text with which the model declined. */
                refusal: string;
                /** @constant */
                type: "refusal";
            })[];
            /** @constant */
            role: "tool";
            /** @description The `id` of the call that this is the result of. */
            tool_call_id: string;
        };
        CompletionMessageUser: {
            /** @description Text or parts. Images in user messages are passed to models that support them, and files are read; otherwise, and for all other kinds of parts, a note is inserted instead. Audio is refused. */
            content: string | ({
                /** @description Text of the part. */
                text: string;
                /** @constant */
                type: "text";
            } | {
                /** @description The image. */
                image_url: {
                    /** @description How closely the model should look; passed on. */
                    detail?: string | null;
                    /** @description HTTPS URL, or the image as a data URL. */
                    url: string;
                };
                /** @constant */
                type: "image_url";
            } | {
                /** @description The file, which the server reads. */
                file: {
                    /** @description The file as a data URL or in base64. */
                    file_data?: string | null;
                    /**
                     * @description Instead of that, a file that was uploaded before.
                     * @example doc_0198c5f28f2e7c1b
                     */
                    file_id?: string | null;
                    /** @description Name of the file. */
                    filename?: string | null;
                } & {
                    [key: string]: unknown;
                };
                /** @constant */
                type: "file";
            } | ({
                /** @description Kind of the part. A part that is not supported is replaced by a note. */
                type: string;
            } & {
                [key: string]: unknown;
            }) | {
                /** @description Text with which the model declined. */
                refusal: string;
                /** @constant */
                type: "refusal";
            })[];
            /** @constant */
            role: "user";
        };
        /**
         * @example {
         *       "model": "agent",
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "When does the library open?"
         *         }
         *       ]
         *     }
         */
        CompletionRequest: {
            citationCheck?: ("words" | "model") | null;
            /** @description Only documents in this collection, that is, with this name in the metadata field `collection`. `default` contains the documents without that field. If absent, all documents. */
            collection?: string | null;
            /** @description Identifies the conversation, so that state kept by tools, such as a sandbox, is available to the next request. Without it, no state is kept. */
            conversationId?: string | null;
            effort?: ("low" | "medium" | "high") | null;
            filter?: components["schemas"]["Filter"] | null;
            /** @description Passed to the model. */
            frequency_penalty?: number | null;
            /** @description Maximum number of tokens that the model may generate per call. */
            max_completion_tokens?: number | null;
            /** @description Older name of `max_completion_tokens`. */
            max_tokens?: number | null;
            /** @description The conversation. The last user message is answered. */
            messages: components["schemas"]["CompletionMessage"][];
            /** @description Leaves out chunks with a lower `score`, 0 to 1: an answer may then have no hits. */
            minScore?: number | null;
            mode?: ("hybrid" | "lexical" | "dense") | null;
            /** @description The agent, `<agent>:<collection>`, or `<agent>-plain` for the model without documents and tools. Any other name also selects the agent. */
            model?: string | null;
            /** @description Number of answers; only 1 is supported. */
            n?: 1 | null;
            /** @description Passed to the model. */
            presence_penalty?: number | null;
            /** @description Passed to the model. */
            reasoning_effort?: string | null;
            /** @description The format of the answer, such as a JSON Schema; passed to the model. */
            response_format?: {
                [key: string]: unknown;
            } | null;
            resume?: components["schemas"]["Resume"] | null;
            /**
             * @description Whether a follow-up that cannot be understood alone is rewritten before the search. The chat model rewrites it as a standalone question in a separate call, which counts towards the usage; without a generating model, it is searched for together with the previous questions.
             * @default true
             */
            rewrite?: boolean | null;
            /** @description Passed to the model. */
            seed?: number | null;
            /** @description Texts at which the model stops. */
            stop?: (string | string[]) | null;
            /** @description Whether to stream chunks. Default: true, or false if the `Accept` header prefers JSON; always false below `/openai/v1`. */
            stream?: boolean | null;
            /** @description Options of the stream. */
            stream_options?: {
                /** @description Whether the last chunk has the usage. */
                include_usage?: boolean | null;
            } | null;
            /** @description Passed to the model. */
            temperature?: number | null;
            /** @description Which of the client’s tools the model may or must call. */
            tool_choice?: (("auto" | "none" | "required") | {
                /** @description The function to call. */
                function: {
                    /** @description Name of the function. */
                    name: string;
                };
                /** @constant */
                type: "function";
            }) | null;
            /** @description The client’s own tools. Calls to them are returned as `tool_calls`. */
            tools?: ({
                /** @description The function. */
                function: {
                    /** @description What the function does, for the model. */
                    description?: string | null;
                    /** @description Name of the function. */
                    name: string;
                    /** @description JSON Schema of its arguments. */
                    parameters?: {
                        [key: string]: unknown;
                    } | null;
                };
                /** @constant */
                type: "function";
            } | ({
                /** @description Any other type: the tool is left out, and named in the header `warnings`. */
                type: string;
            } & {
                [key: string]: unknown;
            }))[] | null;
            /** @description Passed to the model. */
            top_p?: number | null;
            /** @description Maximum number of context chunks to retrieve, up to 100; 0 retrieves none. Default: the server's TOP_K. */
            topK?: number | null;
        };
        /** @description Total tokens of all model calls in the run. */
        CompletionUsage: {
            /** @description Tokens that the model generated. */
            completion_tokens: number;
            /** @description Details of the generated tokens, if the model reports them. */
            completion_tokens_details?: {
                /** @description Tokens of the model’s thinking. */
                reasoning_tokens: number;
            };
            /** @description Tokens of the prompts. */
            prompt_tokens: number;
            /** @description Details of the prompt tokens, if the model reports them. */
            prompt_tokens_details?: {
                /** @description Tokens written to the model’s cache, if the model reports them. */
                cache_write_tokens?: number;
                /** @description Tokens served from the model’s cache. */
                cached_tokens: number;
            };
            /** @description The sum of both. */
            total_tokens: number;
        };
        Conversation: {
            /** @description Extension of the protocol: who may read it besides its owner, who alone is told. */
            access?: string[];
            /** @description When it was created, in seconds since 1970. */
            created_at: number;
            /** @description Identifier of the conversation. */
            id: string;
            /** @description The last item of the current branch, with which lists of items end. */
            last_item_id: string | null;
            /** @description Fields of your own. */
            metadata: {
                [key: string]: string;
            };
            /** @constant */
            object: "conversation";
            /** @description Extension of the protocol: it belongs to somebody else, and can only be read. */
            shared?: boolean;
            /** @description Extension of the protocol: the title; null until the first question. */
            title: string | null;
            /** @description When an item was last added or completed, in seconds since 1970. */
            updated_at: number;
        };
        ConversationDeleted: {
            /** @description Always true. */
            deleted: boolean;
            /** @description Identifier of the conversation. */
            id: string;
            /** @constant */
            object: "conversation.deleted";
        };
        ConversationItem: {
            /** @description What led to an answer of `/chat`, and how it ended. */
            agent?: {
                /** @description True if the answer says that the documents do not say what was asked, and nothing else of them: `hits` are then the nearest passages. Absent otherwise. */
                abstained?: boolean;
                /** @description Calls that wait for approval; absent if there are none. */
                approval?: components["schemas"]["Approval"];
                /** @description Files created by tools in this run. Absent if there are none. */
                artifacts?: components["schemas"]["Artifact"][];
                /** @description How the chat model checked the citations. Absent if it was not asked. */
                citationCheck?: {
                    /** @description Statements with a verdict. */
                    statements: number;
                    /** @description Tokens of the call, of those in `usage`; estimated if they were not reported. */
                    tokens: number;
                    /** @description Why all statements, or some, were compared by words alone. */
                    warning?: string;
                };
                /** @description The citations in the answer, in order: the first 4,000. Absent if there are none. */
                citations?: components["schemas"]["Citation"][];
                /** @description A model used by the search did not respond, or cannot read the question, or the vectors are lost. Without the embedding model or the vectors, search is lexical only; without the reranking model, hits keep their original order; without the chat model, a follow-up is searched for together with the previous questions, and `effort` ends early. In `/readiness`, also set if ingestion has stopped. Absent otherwise. */
                degraded?: boolean;
                /** @description Why the run failed; absent if it did not. */
                error?: components["schemas"]["ErrorDetail"];
                /**
                 * @description Why the answer ended, as in `DoneFrame`; absent while it is being generated.
                 * @enum {string}
                 */
                finishReason?: "stop" | "length" | "content_filter" | "tool_calls" | "round_limit" | "call_limit" | "time_limit" | "token_limit" | "usage_limit" | "approval_required" | "cancelled" | "interrupted";
                /** @description The retrieved chunks; `[n]` in the answer cites the n-th chunk, from 1. */
                hits?: components["schemas"]["Hit"][];
                /** @description The limits of `agent.json` that prevented a tool call or cut off the answer. Absent if none did. */
                limitsReached?: ("rounds" | "toolCalls" | "seconds" | "tokens")[];
                /** @description Duration of the run in milliseconds. */
                milliseconds?: number;
                /** @description The standalone question used for the search, with typing errors corrected. Absent if the last message was used unchanged. */
                searchedFor?: string;
                /** @description The tool calls, in order. */
                steps?: components["schemas"]["AnswerStep"][];
                /** @description Citation numbers in the answer that match no hit; the answer shows `[?]` instead. Absent if there are none. */
                unknownCitations?: number[];
                /** @description Tokens of the run; absent if the model does not report them. */
                usage?: components["schemas"]["Usage"];
            };
            /** @description Identifier of the item. */
            id: string;
            /** @description Extension of the protocol: the item that it follows; null at the start. */
            parent_id: string | null;
            /** @description State of the item, if its kind has one. */
            status?: string;
            /** @description Kind of the item, such as `message`; it has the fields of that kind, as in Responses. */
            type: string;
        } & {
            [key: string]: unknown;
        };
        ConversationItemList: {
            /** @description The items of this page. */
            data: components["schemas"]["ConversationItem"][];
            /** @description The first item of this page; null if it is empty. */
            first_id: string | null;
            /** @description Whether there is another page. */
            has_more: boolean;
            /** @description The last item of this page; send it as `after` to get the next page. */
            last_id: string | null;
            /** @constant */
            object: "list";
        };
        ConversationList: {
            /** @description The items of this page. */
            data: components["schemas"]["Conversation"][];
            /** @description The first item of this page; null if it is empty. */
            first_id: string | null;
            /** @description Whether there is another page. */
            has_more: boolean;
            /** @description The last item of this page; send it as `after` to get the next page. */
            last_id: string | null;
            /** @constant */
            object: "list";
        };
        /**
         * @example {
         *       "metadata": {
         *         "topic": "library"
         *       }
         *     }
         */
        ConversationPatch: {
            /** @description Extension of the protocol: the people who may read it by its id, as `user:<id>` or `group:<id>`, until the list changes. Of documents that they may not read themselves, they see no words beside the answers. */
            access?: string[];
            /** @description Extension of the protocol: if somebody has changed this list meanwhile, nothing is saved and the response is 409 `edit_conflict`. */
            expected?: {
                /** @description The list as you read it. */
                access?: string[];
            };
            /** @description Extension of the protocol: the last item of the branch to continue with. */
            last_item_id?: string | null;
            /** @description Replaces all metadata. */
            metadata?: {
                [key: string]: string;
            } | null;
            /** @description Extension of the protocol: the new title. */
            title?: string | null;
        };
        /** @description A word in which a typing error was assumed. */
        Correction: {
            /** @description The word of the documents that was searched for. */
            corrected: string;
            /** @description The word as it was typed. */
            typed: string;
        };
        /**
         * @example {
         *       "name": "website",
         *       "scopes": [
         *         "chat"
         *       ],
         *       "collections": [
         *         "handbook"
         *       ]
         *     }
         */
        CreateApiKey: {
            /** @description The only collections the key can read and write; if absent, all. Cannot be combined with `admin`. */
            collections?: string[] | null;
            /** @description Limit on what model calls cost per UTC day across all servers, by the `prices` in `agent.json`. The last call may exceed it; models without a price cost nothing. */
            costPerDay?: number | null;
            /**
             * Format: date-time
             * @description The key is refused from this time on.
             */
            expiresAt?: string | null;
            /** @description Name of the key, shown in the log and the web UI. */
            name: string;
            /** @description Limit per server; unlimited if absent. */
            requestsPerMinute?: number | null;
            /** @description What the key permits. `query`: search and read documents; `chat`: ask the agent; `ingest`: add, change and delete documents; `admin`: administer the server; `act-as`: speak for people with the header `Agent-User`. */
            scopes: ("query" | "chat" | "ingest" | "admin" | "act-as")[];
            /** @description Limit on model tokens, sent and received, per UTC day across all servers. The last call of a model may exceed it. */
            tokensPerDay?: number | null;
        };
        /**
         * @example {
         *       "name": "handbook",
         *       "access": [
         *         "group:staff"
         *       ]
         *     }
         */
        CreateCollection: {
            /** @description Who may read the documents that have no `access` of their own: `user:<id>`, `group:<id>` or `public`, for everybody who has signed in. */
            access?: string[];
            /** @description Who may also add documents, and change their own. */
            contributors?: string[];
            /** @description Name of a collection; `default` contains the documents that are in none. */
            name: string;
            /** @description Who may also change and delete all documents that they may read, and these lists. */
            owners?: string[];
        };
        /**
         * @example {
         *       "metadata": {
         *         "topic": "library"
         *       }
         *     }
         */
        CreateConversation: {
            /** @description The first items, as in `/v1/conversations/{id}/items`. */
            items?: components["schemas"]["ResponseInputItem"][] | null;
            /** @description Up to 16 fields of your own. */
            metadata?: {
                [key: string]: string;
            } | null;
            /** @description Extension of the protocol. Default: made from the first question. */
            title?: string | null;
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "role": "user",
         *           "content": "When does the library open?"
         *         }
         *       ]
         *     }
         */
        CreateConversationItems: {
            /** @description The items to add, as the input of Responses. Items of tools that the server does not have are refused. */
            items: components["schemas"]["ResponseInputItem"][];
        };
        /**
         * @example {
         *       "title": "Opening hours",
         *       "text": "The library opens at nine on weekdays and at ten on Saturdays.",
         *       "url": "https://example.org/hours"
         *     }
         */
        CreateDocument: {
            /**
             * @description Who may read the document besides the person who added it: `user:<id>`, `group:<id>` or `public`, for everybody who has signed in. If null or absent, whoever may read its collection. It concerns people only: API keys read all documents of their collections.
             * @example [
             *       "group:hr",
             *       "user:ada"
             *     ]
             */
            access?: string[] | null;
            /** @description The collection of the document, stored as `collection` in its metadata; `default` if absent. */
            collection?: string | null;
            /**
             * @description A stored conversation, from `POST /v1/conversations`: only its questions find the document, and it is deleted with it. Only with `POST /documents`.
             * @example conv_0198c5f28f2e7c1b
             */
            conversation?: string | null;
            metadata?: components["schemas"]["Metadata"] | null;
            /**
             * @description How often to fetch the page again, for example `1d`. If absent, only on request.
             * @example 1d
             */
            refresh?: string | null;
            /** @description Text of the document. If absent, the content at `url` is fetched. */
            text?: string | null;
            /** @description Title of the document. */
            title?: string | null;
            /**
             * Format: uri
             * @description URL of the original document.
             */
            url?: string | null;
        };
        /**
         * @description The parts may be sent in any order.
         * @example {
         *       "file": "%PDF-1.7 …",
         *       "title": "Annual report",
         *       "metadata": "{\"year\": 2026}"
         *     }
         */
        CreateDocumentFile: {
            /**
             * @description As in CreateDocument, as a JSON array; none if empty.
             * @example
             */
            access?: string;
            /**
             * @description The collection of the document.
             * @example default
             */
            collection?: string;
            /**
             * @description The conversation of the document, as in CreateDocument; none if empty.
             * @example
             */
            conversation?: string;
            /**
             * Format: binary
             * @description Content of the file, with its name. At most FILE_LIMIT.
             */
            file: string;
            /**
             * @description Metadata as a JSON object, as in `metadata` of CreateDocument.
             * @example {"year": 2026}
             */
            metadata?: string;
            /**
             * @description Title of the document. Default: the file name.
             * @example Annual report
             */
            title?: string;
            /**
             * Format: uri
             * @description URL of the original document.
             * @example https://example.org/report
             */
            url?: string;
        };
        /**
         * @description A document in a list, or in a stream of JSON objects, one per line: at most 100,000 lines of at most 10,000,000 bytes each.
         * @example {
         *       "id": "owls",
         *       "text": "Owls hunt at night."
         *     }
         */
        CreateDocumentItem: {
            /**
             * @description Who may read the document besides the person who added it: `user:<id>`, `group:<id>` or `public`, for everybody who has signed in. If null or absent, whoever may read its collection. It concerns people only: API keys read all documents of their collections.
             * @example [
             *       "group:hr",
             *       "user:ada"
             *     ]
             */
            access?: string[] | null;
            /** @description The collection of the document, stored as `collection` in its metadata; `default` if absent. */
            collection?: string | null;
            /**
             * @description Creates or replaces the document with this id, as `PUT /documents/{id}` does, which makes retries safe.
             * @example hours
             */
            id?: string | null;
            /** @description Same as the header of `POST /documents`: a repeated key returns the document that was created first. */
            idempotencyKey?: string | null;
            metadata?: components["schemas"]["Metadata"] | null;
            /** @description Text of the document. */
            text: string;
            /** @description Title of the document. */
            title?: string | null;
            /**
             * Format: uri
             * @description URL of the original document.
             */
            url?: string | null;
        };
        /**
         * @description At most 1,000 documents; BODY_LIMIT also applies.
         * @example [
         *       {
         *         "text": "Owls hunt at night."
         *       },
         *       {
         *         "id": "herons",
         *         "text": "Herons wait."
         *       }
         *     ]
         */
        CreateDocuments: components["schemas"]["CreateDocumentItem"][];
        /**
         * @example {
         *       "name": "by words alone",
         *       "mode": "lexical"
         *     }
         */
        CreateEvaluationRun: {
            /**
             * @description Whether the agent is also asked the questions that have `facts`, which uses the chat model.
             * @default false
             */
            answers?: boolean | null;
            effort?: ("low" | "medium" | "high") | null;
            filter?: components["schemas"]["Filter"] | null;
            /**
             * @description Whether the chat model decides if an answer is right; otherwise it must contain a fact.
             * @default false
             */
            judge?: boolean | null;
            mode?: ("hybrid" | "lexical" | "dense") | null;
            /** @description A name for people, such as what the run tries out. */
            name?: string | null;
        };
        /**
         * @example {
         *       "conversationId": "conv_5f2b7c1e9a404d1c8a52b6e0c7d3f918",
         *       "answerId": "msg_0b9c2d4e6f8a41c3b5d7e9f1a3c5e7d9",
         *       "rating": "down",
         *       "comment": "The hours are those of last year."
         *     }
         */
        CreateFeedback: {
            /** @description The answer: an item of the conversation (`answerId` in the frame `turn-start` of `/chat`) or, without a conversation, a stored response. */
            answerId: string;
            /** @description What was good or bad. */
            comment?: string | null;
            /** @description The conversation that the answer is in. */
            conversationId?: string | null;
            rating: components["schemas"]["Rating"];
        };
        /**
         * @example {
         *       "file": "%PDF-1.7 …",
         *       "purpose": "assistants"
         *     }
         */
        CreateFile: {
            /**
             * Format: binary
             * @description Content of the file, with its name. At most FILE_LIMIT.
             */
            file: string;
            /** @description Has no effect. */
            purpose?: string;
        };
        /**
         * @example {
         *       "file_ids": [
         *         "doc_0198c5f28f2e7c1b"
         *       ]
         *     }
         */
        CreateFileBatch: {
            /** @description Attributes of all documents in `file_ids`. */
            attributes?: components["schemas"]["Metadata"] | null;
            /** @description How documents are split. */
            chunking_strategy?: {
                /**
                 * @description Only `auto` is supported: the server splits documents itself.
                 * @constant
                 */
                type: "auto";
            } | null;
            /** @description Identifiers of documents. */
            file_ids?: string[] | null;
            /** @description Alternative to `file_ids` that gives each document its own attributes. */
            files?: components["schemas"]["CreateVectorStoreFile"][] | null;
        };
        /**
         * @example {
         *       "id": "opening-hours",
         *       "question": "When does the library open?",
         *       "relevant": [
         *         {
         *           "documentId": "doc_0198c5f28f2e7c1b"
         *         }
         *       ],
         *       "facts": [
         *         "nine",
         *         "9:00"
         *       ]
         *     }
         */
        CreateJudgedLine: {
            /** @description The collection to search; if absent, all documents. */
            collection?: string | null;
            /** @description Wordings of the answer, one of which a correct answer contains; `[]` if no document has the answer. If absent, only the search is measured. */
            facts?: string[] | null;
            /**
             * @description Identifier of the question.
             * @example hours
             */
            id?: string | null;
            /** @description A group of questions, whose results are also reported separately. */
            kind?: string | null;
            /** @description The question, as a user would ask it. */
            question: string;
            /**
             * @description The documents that answer the question, or their pages.
             * @default []
             */
            relevant?: components["schemas"]["RelevantDocument"][] | null;
        };
        /**
         * @example {
         *       "question": "When does the library open?",
         *       "relevant": [
         *         {
         *           "documentId": "doc_0198c5f28f2e7c1b"
         *         }
         *       ],
         *       "facts": [
         *         "nine",
         *         "9:00"
         *       ]
         *     }
         */
        CreateJudgedQuestion: {
            /** @description The collection to search; if absent, all documents. */
            collection?: string | null;
            /** @description Wordings of the answer, one of which a correct answer contains; `[]` if no document has the answer. If absent, only the search is measured. */
            facts?: string[] | null;
            /** @description A group of questions, whose results are also reported separately. */
            kind?: string | null;
            /** @description The question, as a user would ask it. */
            question: string;
            /**
             * @description The documents that answer the question, or their pages.
             * @default []
             */
            relevant?: components["schemas"]["RelevantDocument"][] | null;
        };
        /**
         * @example {
         *       "url": "https://example.org/sitemap.xml",
         *       "refresh": "1d"
         *     }
         */
        CreateSite: {
            /**
             * @description Who may read the document besides the person who added it: `user:<id>`, `group:<id>` or `public`, for everybody who has signed in. If null or absent, whoever may read its collection. It concerns people only: API keys read all documents of their collections.
             * @example [
             *       "group:hr",
             *       "user:ada"
             *     ]
             */
            access?: string[] | null;
            /** @description The collection of the document, stored as `collection` in its metadata; `default` if absent. */
            collection?: string | null;
            /**
             * @description Maximum number of pages to fetch.
             * @default 1000
             */
            limit?: number | null;
            metadata?: components["schemas"]["Metadata"] | null;
            /**
             * @description How often to fetch the page again, for example `1d`. If absent, only on request.
             * @example 1d
             */
            refresh?: string | null;
            /**
             * Format: uri
             * @description URL of the sitemap: XML or an XML sitemap index, optionally gzipped, or plain text with one URL per line.
             */
            url: string;
        };
        /**
         * @example {
         *       "name": "guide"
         *     }
         */
        CreateSyncDirectory: {
            /** @description Name of the directory. */
            name: string;
            /** @description The directory that it is in; none at the top. */
            parent_id?: string | null;
        };
        /**
         * @example {
         *       "name": "handbook"
         *     }
         */
        CreateVectorStore: {
            /** @description How documents are split. */
            chunking_strategy?: {
                /**
                 * @description Only `auto` is supported: the server splits documents itself.
                 * @constant
                 */
                type: "auto";
            } | null;
            /** @description Not supported: documents are kept until they are deleted. */
            expires_after?: string | null;
            /** @description Documents to add. */
            file_ids?: string[] | null;
            /** @description A name for people; if it can be that of a collection, a new store is that collection. */
            name?: string | null;
        };
        /**
         * @example {
         *       "file_id": "doc_0198c5f28f2e7c1b"
         *     }
         */
        CreateVectorStoreFile: {
            attributes?: components["schemas"]["Metadata"] | null;
            /** @description How documents are split. */
            chunking_strategy?: {
                /**
                 * @description Only `auto` is supported: the server splits documents itself.
                 * @constant
                 */
                type: "auto";
            } | null;
            /**
             * @description Identifier of the document.
             * @example doc_0198c5f28f2e7c1b
             */
            file_id: string;
        };
        Deletion: {
            /** @description Number of documents deleted by this request; 0 with `dryRun`. */
            deleted: number;
            /** @description Number of documents that match the selection. */
            matched: number;
        };
        Deployment: {
            /** @description The commands to run, in this order. */
            commands: {
                /** @description The command. */
                run: string;
                /** @description What the command is for. */
                title: string;
            }[];
            /** @description Save these in `deployment/<target>` of the project; `DEPLOY.md` describes the next steps. */
            files: {
                /** @description Name of the file. */
                name: string;
                /** @description Content of the file. */
                text: string;
            }[];
            /** @description Reasons why the configuration cannot run on this target. If there are any, no files are generated. */
            refusals: {
                /** @description A variable, a field of `agent.json`, or a field of the request. */
                field: string;
                /** @description What is wrong. */
                message: string;
                /** @description How to fix it. */
                remedy: string;
            }[];
            /** @description Names of the variables to set as secrets on the platform. The generated files do not contain their values. */
            secrets: string[];
            /** @description The target of the request. */
            target: string;
            /** @description What works on this target only with limitations. */
            warnings: {
                /** @description A variable, a field of `agent.json`, or a field of the request. */
                field: string;
                /** @description What is wrong. */
                message: string;
                /** @description How to fix it. */
                remedy: string;
            }[];
        };
        /**
         * @example {
         *       "target": "compose",
         *       "domain": "agent.example.org"
         *     }
         */
        DeploymentRequest: {
            /** @description The public host name. */
            domain?: string | null;
            /**
             * @description Number of server instances.
             * @default 1
             */
            instances?: number | null;
            /** @description One of the names listed by `GET /admin/deploy`. */
            target: string;
        };
        DeploymentTargets: {
            /** @description The platforms for which deployments can be generated. */
            targets: {
                /** @description Name to send as `target`. */
                name: string;
                /** @description Name of the platform. */
                title: string;
            }[];
        };
        Document: {
            /** @description Who may read it besides the person who added it; absent if its collection says, and to those who may not change it. */
            access?: string[];
            /** @description Number of ingestion attempts. */
            attempts: number;
            /** @description Length of the text in UTF-16 code units, the unit of every offset. */
            characters: number;
            /** @description Number of chunks. */
            chunks: number;
            /** @description The conversation that the document belongs to: only its questions find it. */
            conversation?: string;
            /**
             * Format: date-time
             * @description When the document was created.
             */
            createdAt: string;
            /** @description The person who added it, as `user:<id>`; absent for an API key, and to those who may not change it. */
            creator?: string;
            /** @description Progress of the embeddings; absent if search is lexical only. */
            embeddings?: {
                /** @description Chunks that have no embedding yet and are found by keywords only. */
                missing: number;
                /** @description Estimated maximum time until none are missing; absent if not known yet. */
                seconds?: number;
            };
            error?: components["schemas"]["DocumentError"];
            file?: components["schemas"]["DocumentFile"];
            /**
             * @description Identifier of the document.
             * @example doc_0198c5f28f2e7c1b
             */
            id: string;
            metadata?: components["schemas"]["Metadata"];
            /** @description While the file is being read, the number of scanned pages processed so far. */
            page?: number;
            /** @description Progress of the descriptions of its pictures; absent in lists, if it has none, or if PICTURE_DESCRIPTIONS is off. */
            pictures?: {
                /** @description Pictures that have a description. */
                described: number;
                /** @description Pictures that wait for their descriptions. */
                missing: number;
                /** @description Why pictures wait, or why one was refused. */
                reason?: string;
                /** @description Pictures that the chat model did not describe since the server started. */
                refused: number;
            };
            /** @description Revision of the content, starting at 1 and increasing with each replacement. */
            revision: number;
            /** @description The revision that queries find; absent until the first is ready. If lower than `revision`, a replacement is in progress or has failed, and all fields except `status`, `error` and `attempts` describe the served revision. */
            servedRevision?: number;
            /** @description The last fetch, if the document was fetched from `url`. Not included in lists. */
            source?: components["schemas"]["DocumentSource"];
            status: components["schemas"]["DocumentStatus"];
            /** @description Title of the document. */
            title?: string;
            /**
             * Format: date-time
             * @description When the document was last changed.
             */
            updatedAt: string;
            /** @description URL of the original document. */
            url?: string;
            /** @description Parts of the file that could not be read; the rest is searchable. `not_embedded`: passages that the embedding model refused, which only their words find; not included in lists. */
            warnings?: components["schemas"]["DocumentWarning"][];
        };
        DocumentBatchResult: {
            /** @description One result per document, in the order of the request. */
            results: (components["schemas"]["DocumentCreated"] | components["schemas"]["BatchFailure"])[];
        };
        /**
         * @example {
         *       "id": "doc_0198c5f28f2e7c1b",
         *       "status": "pending"
         *     }
         */
        DocumentCreated: {
            /** @description Progress of the embeddings; absent if search is lexical only. */
            embeddings?: {
                /** @description Chunks that have no embedding yet and are found by keywords only. */
                missing: number;
                /** @description Estimated maximum time until none are missing; absent if not known yet. */
                seconds?: number;
            };
            error?: components["schemas"]["DocumentError"];
            /**
             * @description Identifier of the document.
             * @example doc_0198c5f28f2e7c1b
             */
            id: string;
            /**
             * @description Another document that has the same file, if one was uploaded and you may read it.
             * @example doc_0198c5f28f2e7c1b
             */
            sameFile?: string;
            status: components["schemas"]["DocumentStatus"];
        };
        /** @description Why ingestion or its last attempt failed; see docs/guides/ingestion.md. */
        DocumentError: {
            /** @description Stable code of the cause. */
            code: string;
            /** @description What failed and how to fix it. */
            message: string;
        };
        /** @description The original file, if the document was sent as one. */
        DocumentFile: {
            /** @description Media type of the file. */
            mediaType: string;
            /** @description Name of the uploaded file, without a path. */
            name: string;
            /** @description SHA-256 of its bytes, in hexadecimal. */
            sha256?: string;
            /** @description Size in bytes. */
            size: number;
        };
        DocumentList: {
            /** @description Documents in the order of `sort`; newest first by default. */
            documents: components["schemas"]["Document"][];
            /** @description Send as `cursor` to get the next page; absent on the last page. */
            nextCursor?: string;
            /** @description Total number of matching documents. Only with `total=true`. */
            total?: number;
        };
        /**
         * @example {
         *       "metadata": {
         *         "year": 2027,
         *         "draft": null
         *       },
         *       "expected": {
         *         "metadata": {
         *           "year": 2026
         *         }
         *       }
         *     }
         */
        DocumentPatch: {
            /**
             * @description Who may read the document besides the person who added it: `user:<id>`, `group:<id>` or `public`, for everybody who has signed in. If null or absent, whoever may read its collection. It concerns people only: API keys read all documents of their collections.
             * @example [
             *       "group:hr",
             *       "user:ada"
             *     ]
             */
            access?: string[] | null;
            /** @description Null takes the document out of its conversation, so that all questions find it and it stays when the conversation is deleted. */
            conversation?: string | null;
            /** @description Guards against concurrent edits: if any of these values has changed, nothing is saved and the response is 409 `edit_conflict`. */
            expected?: {
                /** @description `access` as you read it; null if there was none. */
                access?: string[] | null;
                /** @description Metadata fields as you read them; null for a field that was absent. */
                metadata?: {
                    [key: string]: (string | number | boolean) | null;
                };
                /** @description The title as you read it. */
                title?: string;
            };
            /** @description Fields to set, or null to remove a field. Fields not listed are unchanged. */
            metadata?: {
                [key: string]: (string | number | boolean) | null;
            };
            /** @description A new title. Because search finds words of titles, the same content is ingested again under it; until then, the previous title is returned. Only for a document that is `ready` and was not fetched from a URL; otherwise it is refused. */
            title?: string;
        };
        /**
         * @description Field to sort by, ascending; `-` sorts in descending order.
         * @enum {string}
         */
        DocumentSort: "-createdAt" | "createdAt" | "-updatedAt" | "updatedAt" | "title" | "-title" | "characters" | "-characters";
        /** @description The last fetch of the document’s URL. */
        DocumentSource: {
            /** @description Why no new content was fetched; the document is unchanged. */
            error?: string;
            /**
             * Format: date-time
             * @description When the URL was last requested.
             */
            fetchedAt: string;
            /**
             * Format: date-time
             * @description When the URL will be fetched again.
             */
            nextAt?: string;
            /** @description How often the URL is fetched, as requested. */
            refresh?: string;
            /** @description HTTP status of the response; absent if there was none. */
            status?: number;
        };
        /**
         * @description `pending`: waiting for ingestion. `processing`: being ingested. `ready`: found by keyword search. `failed`: see `error`.
         * @enum {string}
         */
        DocumentStatus: "pending" | "processing" | "ready" | "failed";
        /** @description A part of the document that could not be read, by the server or by the embedding model. */
        DocumentWarning: {
            /** @description Stable code of the cause. */
            code: string;
            /** @description What could not be read. */
            message: string;
        };
        /** @description The answer is complete. Always the last frame. */
        DoneFrame: {
            /** @description True if the answer says that the documents do not say what was asked, and nothing else of them: `hits` are then the nearest passages. Absent otherwise. */
            abstained?: boolean;
            /** @description Files created by tools in this run. Absent if there are none. */
            artifacts?: components["schemas"]["Artifact"][];
            /** @description How the chat model checked the citations. Absent if it was not asked. */
            citationCheck?: {
                /** @description Statements with a verdict. */
                statements: number;
                /** @description Tokens of the call, of those in `usage`; estimated if they were not reported. */
                tokens: number;
                /** @description Why all statements, or some, were compared by words alone. */
                warning?: string;
            };
            /** @description The citations in the answer, in order: the first 4,000. Absent if there are none. */
            citations?: components["schemas"]["Citation"][];
            /** @description A model used by the search did not respond, or cannot read the question, or the vectors are lost. Without the embedding model or the vectors, search is lexical only; without the reranking model, hits keep their original order; without the chat model, a follow-up is searched for together with the previous questions, and `effort` ends early. In `/readiness`, also set if ingestion has stopped. Absent otherwise. */
            degraded?: boolean;
            /**
             * @description Why the answer ended. `stop`: it is complete. `length`: the model’s token limit. `content_filter`: the model’s provider withheld it. `tool_calls`: it calls the client’s tools. `round_limit`, `call_limit`, `time_limit`, `token_limit`: a limit of `agent.json`. `usage_limit`: what a person, group or key may use in a day. `approval_required`: calls wait for approval. `cancelled`, `interrupted`: a client stopped the answer, or the server stopped; only with `conversation`.
             * @enum {string}
             */
            finishReason: "stop" | "length" | "content_filter" | "tool_calls" | "round_limit" | "call_limit" | "time_limit" | "token_limit" | "usage_limit" | "approval_required" | "cancelled" | "interrupted";
            /** @description The retrieved chunks; `[n]` in the answer cites the n-th chunk, from 1. */
            hits: components["schemas"]["Hit"][];
            /** @description The limits of `agent.json` that prevented a tool call or cut off the answer. Absent if none did. */
            limitsReached?: ("rounds" | "toolCalls" | "seconds" | "tokens")[];
            /** @description The standalone question used for the search, with typing errors corrected. Absent if the last message was used unchanged. */
            searchedFor?: string;
            /** @constant */
            type: "done";
            /** @description Citation numbers in the answer that match no hit; the answer shows `[?]` instead. Absent if there are none. */
            unknownCitations?: number[];
            /** @description Tokens of the run; absent if the model does not report them. */
            usage?: components["schemas"]["Usage"];
        };
        /** @description The draft is ready to answer. Always the first frame of `POST /admin/agent/chat`, and never sent elsewhere. */
        DraftFrame: {
            /** @constant */
            type: "draft";
            /** @description Parts of the draft that cannot be used. */
            unavailable: {
                /** @description Name of the part. */
                name: string;
                /**
                 * @description The kind of part.
                 * @enum {string}
                 */
                part: "mcp" | "skill" | "plugin";
                /** @description Why it cannot be used. */
                reason: string;
            }[];
        };
        Elicitation: {
            /** @description Identifies the question within its call. */
            id: string;
            /** @description What the server asks, in its own words. */
            message: string;
            /** @description JSON Schema of the answer: an object whose fields are strings, numbers, booleans, or choices among strings. */
            requestedSchema: {
                [key: string]: unknown;
            };
        };
        Embeddings: {
            /** @description One embedding per text, in the order of the request. */
            data: {
                /** @description A vector of length 1; with `base64`, encoded as little-endian 32-bit floats. */
                embedding: number[] | string;
                /** @description Position of the text in the request, from 0. */
                index: number;
                /** @constant */
                object: "embedding";
            }[];
            /** @description Name of the configured embedding model. */
            model: string;
            /** @constant */
            object: "list";
            /** @description Estimated from the length of the texts. */
            usage: {
                /** @description Tokens of all texts. */
                prompt_tokens: number;
                /** @description Same as `prompt_tokens`. */
                total_tokens: number;
            };
        };
        /**
         * @example {
         *       "input": "When does the library open?"
         *     }
         */
        EmbeddingsRequest: {
            /** @description If given, must be the number of dimensions of the configured model. */
            dimensions?: number | null;
            /**
             * @description How each vector is encoded.
             * @default float
             */
            encoding_format?: ("float" | "base64") | null;
            /** @description The text or the texts to embed, of up to 2,000,000 characters together; each may also be an array of tokens of `cl100k_base`. */
            input: string | (string | number[])[] | number[];
            /** @description Ignored; the configured model is used. */
            model?: string | null;
        };
        /** @description The response body of every failed request. */
        Error: {
            error: components["schemas"]["ErrorDetail"];
        };
        /**
         * @description Stable error code, listed in docs/reference/errors.md.
         * @enum {string}
         */
        ErrorCode: "invalid_request" | "context_length_exceeded" | "unauthorized" | "insufficient_scope" | "collection_not_allowed" | "not_permitted" | "fetch_not_allowed" | "origin_not_allowed" | "groups_unknown" | "document_not_found" | "collection_not_found" | "file_not_found" | "connection_not_found" | "artifact_not_found" | "conversation_not_found" | "item_not_found" | "feedback_not_found" | "evaluation_not_found" | "question_not_found" | "response_not_found" | "batch_not_found" | "version_not_found" | "model_not_found" | "run_not_found" | "key_not_found" | "person_not_found" | "route_not_found" | "method_not_allowed" | "request_timeout" | "document_not_failed" | "document_not_ready" | "edit_conflict" | "collection_exists" | "collection_not_empty" | "not_writable" | "not_startable" | "conversation_full" | "too_many_keys" | "evaluation_running" | "too_many_questions" | "idempotency_conflict" | "body_too_large" | "unsupported_media_type" | "range_not_satisfiable" | "queue_full" | "too_many_uploads" | "too_many_requests" | "too_many_attempts" | "rate_limited" | "too_many_runs" | "internal" | "web_ui_unavailable" | "fetch_failed" | "upstream_failed" | "upstream_refused" | "upstream_unauthorized" | "upstream_model_not_found" | "upstream_rate_limited" | "upstream_timeout" | "index_unavailable" | "index_not_ready" | "issuer_unavailable" | "sandbox_unavailable" | "store_unavailable" | "not_launched" | "shutting_down" | "storage_full";
        /** @description What went wrong, for people and for programs. */
        ErrorDetail: {
            code: components["schemas"]["ErrorCode"];
            /** @description What went wrong and how to fix it. */
            message: string;
            /** @description Dotted path of the invalid field, or null. */
            param: string | null;
            /** @description Identifies the request; also in the `x-request-id` header and the log. */
            request_id: string;
            /**
             * @description The category of the error.
             * @enum {string}
             */
            type: "invalid_request_error" | "authentication_error" | "permission_error" | "rate_limit_error" | "server_error" | "upstream_error";
        };
        /** @description The stream failed. Always the last frame. */
        ErrorFrame: {
            error: components["schemas"]["ErrorDetail"];
            /** @constant */
            type: "error";
        };
        EvaluationComparison: {
            /** @description The earlier run. */
            before: components["schemas"]["EvaluationRun"];
            /** @description The run that it is compared with. */
            now: components["schemas"]["EvaluationRun"];
            /** @description One row for the search, and one for answers if both runs asked the agent. */
            rows: {
                /** @description Each measure that both runs have. */
                measures: {
                    [key: string]: {
                        /** @description The value of the earlier run. */
                        before: number;
                        /** @description `now` minus `before`. */
                        difference: number;
                        /** @description The value of the run that it is compared with. */
                        now: number;
                    };
                };
                /** @description What was measured: `search` or `answers`. */
                name: string;
                /** @description Questions of both runs whose outcome differs. */
                questions: {
                    /** @description What the agent answered, cut off after 1,000 characters. */
                    answers?: {
                        /** @description The answer of the earlier run. */
                        before: string;
                        /** @description The answer of the run that it is compared with. */
                        now: string;
                    };
                    /** @description The measures that differ. */
                    differs: {
                        [key: string]: {
                            /** @description The value of the earlier run. */
                            before: number;
                            /** @description The value of the run that it is compared with. */
                            now: number;
                        };
                    };
                    /** @description Identifier of the judged question. */
                    id: string;
                    /** @description The question. */
                    text: string;
                }[];
                /** @description A paired test of each measure that questions have of their own. */
                tests: {
                    [key: string]: {
                        /** @description The mean of `now` minus `before` over them. */
                        difference: number;
                        /** @description How many questions both runs asked. */
                        questions: number;
                        /** @description Whether the difference is more than chance, by a paired randomization test at a level of 5 %. */
                        significant: boolean;
                    };
                };
            }[];
        };
        EvaluationReport: {
            /** @description Whether the agent is also asked. */
            answers: boolean;
            /** @description Questions asked so far; one that is also put to the agent counts twice. */
            asked: number;
            /**
             * Format: date-time
             * @description When the run began.
             */
            createdAt: string;
            /**
             * @description `low`, the default: one search. `medium`: the chat model splits the question into parts, which are also searched for. `high`: also, the model judges whether the passages are sufficient and searches for what is missing, in at most 3 rounds, 10 searches, 30,000 tokens and 60 seconds. `medium` and `high` are refused without a chat model; their tokens count towards the usage.
             * @enum {string}
             */
            effort?: "low" | "medium" | "high";
            /** @description Why the run failed. */
            error?: string;
            filter?: components["schemas"]["Filter"];
            /** @description Identifier of the run. */
            id: string;
            /** @description Whether the chat model judges the answers. */
            judge: boolean;
            /** @description The measures of `search` and `answers`, explained in docs/guides/evaluation.md; absent until the run is done. */
            measures?: {
                [key: string]: {
                    [key: string]: number;
                };
            };
            /**
             * @description `hybrid`: keywords and embeddings. `lexical`: keywords only. `dense`: embeddings only. Default: `hybrid` if the server has an embedding model, otherwise `lexical`.
             * @enum {string}
             */
            mode?: "hybrid" | "lexical" | "dense";
            /** @description The models when the run began. */
            models: {
                /** @description The chat model. */
                chat: string;
                /** @description The embedding model. */
                embedding?: string;
                /** @description The reranker. */
                rerank?: string;
            };
            /** @description Name of the run, if it was given one. */
            name?: string;
            /** @description The outcome of each question, for `search` and `answers`; absent until the run is done. */
            questions?: {
                [key: string]: {
                    /** @description What the agent answered, cut off after 1,000 characters. */
                    answer?: string;
                    /** @description Identifier of the judged question. */
                    id: string;
                    /** @description The question. */
                    text: string;
                    /** @description The measures of this question. */
                    values: {
                        [key: string]: number;
                    };
                }[];
            };
            /**
             * @description Whether it is running, or how it ended; `interrupted` means that the server stopped.
             * @enum {string}
             */
            state: "running" | "done" | "failed" | "cancelled" | "interrupted";
            /** @description Questions to ask in all, counted in the same way. */
            total: number;
            /**
             * Format: date-time
             * @description When the run last made progress.
             */
            updatedAt: string;
        };
        EvaluationRun: {
            /** @description Whether the agent is also asked. */
            answers: boolean;
            /** @description Questions asked so far; one that is also put to the agent counts twice. */
            asked: number;
            /**
             * Format: date-time
             * @description When the run began.
             */
            createdAt: string;
            /**
             * @description `low`, the default: one search. `medium`: the chat model splits the question into parts, which are also searched for. `high`: also, the model judges whether the passages are sufficient and searches for what is missing, in at most 3 rounds, 10 searches, 30,000 tokens and 60 seconds. `medium` and `high` are refused without a chat model; their tokens count towards the usage.
             * @enum {string}
             */
            effort?: "low" | "medium" | "high";
            /** @description Why the run failed. */
            error?: string;
            filter?: components["schemas"]["Filter"];
            /** @description Identifier of the run. */
            id: string;
            /** @description Whether the chat model judges the answers. */
            judge: boolean;
            /** @description The measures of `search` and `answers`, explained in docs/guides/evaluation.md; absent until the run is done. */
            measures?: {
                [key: string]: {
                    [key: string]: number;
                };
            };
            /**
             * @description `hybrid`: keywords and embeddings. `lexical`: keywords only. `dense`: embeddings only. Default: `hybrid` if the server has an embedding model, otherwise `lexical`.
             * @enum {string}
             */
            mode?: "hybrid" | "lexical" | "dense";
            /** @description The models when the run began. */
            models: {
                /** @description The chat model. */
                chat: string;
                /** @description The embedding model. */
                embedding?: string;
                /** @description The reranker. */
                rerank?: string;
            };
            /** @description Name of the run, if it was given one. */
            name?: string;
            /**
             * @description Whether it is running, or how it ended; `interrupted` means that the server stopped.
             * @enum {string}
             */
            state: "running" | "done" | "failed" | "cancelled" | "interrupted";
            /** @description Questions to ask in all, counted in the same way. */
            total: number;
            /**
             * Format: date-time
             * @description When the run last made progress.
             */
            updatedAt: string;
        };
        EvaluationRunList: {
            /** @description The last 50 runs, newest first. */
            runs: components["schemas"]["EvaluationRun"][];
        };
        Feedback: {
            /** @description The answer as it is stored now. */
            answer: string;
            /** @description The rated answer. */
            answerId: string;
            /** @description What was good or bad. */
            comment?: string;
            /** @description The conversation that the answer is in. */
            conversationId?: string;
            /**
             * Format: date-time
             * @description When the answer was first rated.
             */
            createdAt: string;
            /** @description The documents that the answer cites. */
            documentIds: string[];
            /** @description Identifier of the feedback. */
            id: string;
            /** @description The question; absent if it was deleted. */
            question?: string;
            rating: components["schemas"]["Rating"];
            /**
             * Format: date-time
             * @description When the rating or the comment was last changed.
             */
            updatedAt: string;
        };
        FeedbackList: {
            /** @description The feedback, newest first. */
            feedback: components["schemas"]["Feedback"][];
            /** @description Send as `cursor` to get the next page; absent on the last page. */
            nextCursor?: string;
        };
        /**
         * @description Matches if the field meets all given conditions. Values match only values of the same type. Strings are compared by code points, which suits ISO dates.
         * @example {
         *       "field": "year",
         *       "gte": 2020,
         *       "lt": 2025
         *     }
         */
        FieldCondition: {
            /** @description Equal to this value. */
            eq?: (string | number | boolean) | null;
            /** @description Name of a metadata field. */
            field: string;
            /** @description Greater than this value. */
            gt?: (string | number) | null;
            /** @description Greater than or equal to this value. */
            gte?: (string | number) | null;
            /** @description Equal to one of these values. */
            in?: (string | number | boolean)[] | null;
            /** @description Less than this value. */
            lt?: (string | number) | null;
            /** @description Less than or equal to this value. */
            lte?: (string | number) | null;
        };
        FileBatch: {
            /** @description When it was created, in seconds since 1970. */
            created_at: number;
            /** @description Number of files by status. */
            file_counts: {
                /** @description Files that are no longer in the store. */
                cancelled: number;
                /** @description Files that are searchable. */
                completed: number;
                /** @description Files whose ingestion failed. */
                failed: number;
                /** @description Files waiting for ingestion, or being ingested. */
                in_progress: number;
                /** @description All files. */
                total: number;
            };
            /** @description Identifier of the batch. */
            id: string;
            /** @constant */
            object: "vector_store.files_batch";
            /**
             * @description `cancelled` if a file was removed from the store, `failed` if all files failed.
             * @enum {string}
             */
            status: "in_progress" | "completed" | "cancelled" | "failed";
            /** @description Identifier of the vector store. */
            vector_store_id: string;
        };
        FileCitation: {
            /**
             * @description Who wrote the mark: `server` where it was added, or put in the place of the model’s. Absent in answers that an earlier version stored.
             * @enum {string}
             */
            by?: "model" | "server";
            /** @description End offset (exclusive). */
            end: number;
            /** @description The words of the hit that decide, as the chat model copied them. */
            evidence?: string;
            /** @description Identifier of the document. */
            file_id: string;
            /** @description Title of the document, or its id. */
            filename: string;
            /** @description Position of the citation in the text, in UTF-16 code units. */
            index: number;
            /** @description The number in the citation, which is the position of the hit. */
            number: number;
            /** @description Up to three sentences of the hit that are closest to the statement before the citation, in the order of the text. Empty if none shares a word with it. */
            quotes: {
                /** @description End offset in the document (exclusive). */
                end?: number;
                /** @description Page or slide on which the quote begins. */
                page?: number;
                /** @description Start offset in the document, in UTF-16 code units. Absent for rows of tables. */
                start?: number;
                /** @description The sentence. */
                text: string;
            }[];
            /** @description Start offset of the passage in the document, in UTF-16 code units. */
            start: number;
            /** @description False if the hit lacks most words, a number or a name of the statement, or says the opposite. Words are compared, unless there is a `verdict`. Absent if the languages seem to differ. */
            supported?: boolean;
            /** @constant */
            type: "file_citation";
            /** @description URL of the document, or its page in the web UI. */
            url?: string;
            /**
             * @description What the chat model says, if it was asked: the hit says so, says otherwise, or neither. `supported` is true for the first only.
             * @enum {string}
             */
            verdict?: "supported" | "contradicted" | "not_said";
        };
        FileList: {
            /** @description The items of this page. */
            data: components["schemas"]["FileObject"][];
            /** @description The first item of this page; null if it is empty. */
            first_id: string | null;
            /** @description Whether there is another page. */
            has_more: boolean;
            /** @description The last item of this page; send it as `after` to get the next page. */
            last_id: string | null;
            /** @constant */
            object: "list";
        };
        /** @description A document as a file, however it was sent. */
        FileObject: {
            /** @description Size of the file in bytes, or length of the text if there is no file. */
            bytes: number;
            /** @description When the document was created, in seconds since 1970. */
            created_at: number;
            /** @description Name of the file, or the title of the document. */
            filename: string;
            /** @description Identifier of the document. */
            id: string;
            /** @constant */
            object: "file";
            /** @constant */
            purpose: "assistants";
            /**
             * @description `processed`: the file is searchable. `error`: ingestion failed, see `status_details`.
             * @enum {string}
             */
            status: "uploaded" | "processed" | "error";
            /** @description Why ingestion failed. */
            status_details?: string;
        };
        /**
         * @description Restricts the search to documents whose metadata match: a condition on one field, or `and`, `or` and `not` of filters, up to four levels deep. `not` also matches documents without the field.
         * @example {
         *       "and": [
         *         {
         *           "field": "language",
         *           "in": [
         *             "en",
         *             "de"
         *           ]
         *         },
         *         {
         *           "not": {
         *             "field": "public",
         *             "eq": false
         *           }
         *         }
         *       ]
         *     }
         */
        Filter: components["schemas"]["FieldCondition"] | {
            /** @description All of these filters must match. */
            and: components["schemas"]["FilterLevel2"][];
        } | {
            /** @description At least one of these filters must match. */
            or: components["schemas"]["FilterLevel2"][];
        } | {
            /** @description This filter must not match. */
            not: components["schemas"]["FilterLevel2"];
        };
        FilterLevel2: components["schemas"]["FieldCondition"] | {
            /** @description All of these filters must match. */
            and: components["schemas"]["FilterLevel3"][];
        } | {
            /** @description At least one of these filters must match. */
            or: components["schemas"]["FilterLevel3"][];
        } | {
            /** @description This filter must not match. */
            not: components["schemas"]["FilterLevel3"];
        };
        FilterLevel3: components["schemas"]["FieldCondition"] | {
            /** @description All of these filters must match. */
            and: components["schemas"]["FilterLevel4"][];
        } | {
            /** @description At least one of these filters must match. */
            or: components["schemas"]["FilterLevel4"][];
        } | {
            /** @description This filter must not match. */
            not: components["schemas"]["FilterLevel4"];
        };
        FilterLevel4: components["schemas"]["FieldCondition"] | {
            /** @description All of these filters must match. */
            and: components["schemas"]["FieldCondition"][];
        } | {
            /** @description At least one of these filters must match. */
            or: components["schemas"]["FieldCondition"][];
        } | {
            /** @description This filter must not match. */
            not: components["schemas"]["FieldCondition"];
        };
        Health: {
            /** @constant */
            status: "ok";
        };
        /**
         * @example {
         *       "id": "doc_0198c5f28f2e7c1b-1-0",
         *       "score": 0.61,
         *       "text": "The library opens at nine on weekdays and at ten on Saturdays.",
         *       "title": "Opening hours",
         *       "documentId": "doc_0198c5f28f2e7c1b",
         *       "url": "https://example.org/hours",
         *       "start": 0,
         *       "end": 62
         *     }
         */
        Hit: {
            /** @description In chat, adjacent chunks of a document are merged into one hit, which lists the ids of all of them in order. Absent otherwise. */
            chunkIds?: string[];
            /** @description Identifier of the document. */
            documentId: string;
            /** @description End offset of the chunk in the document (exclusive). */
            end: number;
            /** @description Headings above the chunk, outermost first, joined by ` > `. If the chunk begins in the middle of a table, the names of its columns are the last step. */
            heading?: string;
            /** @description Chunk identifier. */
            id: string;
            metadata?: components["schemas"]["Metadata"];
            /** @description Page or slide on which the chunk begins, from 1. Only for files with pages. */
            page?: number;
            /** @description Page or slide on which the chunk ends. */
            pageEnd?: number;
            /** @description `text` is a description of a picture by the chat model, not text of the document; `start` and `end` are where the picture is. Absent otherwise. */
            pictureDescription?: boolean;
            /** @description Row number, from 1, if the hit is a table row. The header and blank rows are not counted. */
            row?: number;
            /** @description Relevance of the chunk to the query. From 0 to 1, comparable between questions of one `mode`. `lexical`: the share of the question’s words, stop words aside, that the chunk contains; a corrected word counts 0.7. `dense`: the cosine similarity of question and chunk, at least 0; how high it is for a good match depends on the embedding model. `hybrid`: 0.4 × the former + 0.6 × the latter. With a reranking model: the relevance that it gives; the chat model as a reranker gives an order only. Never lower than the score of the next hit. */
            score: number;
            /** @description Sheet of the workbook that contains the row. */
            sheet?: string;
            /** @description The chunk’s score in each stage of the search. Only with `explain`. */
            stages?: {
                /** @description Cosine similarity to the query after adjustment towards the best hits; absent if the query was not embedded. */
                dense?: number;
                /** @description BM25 score; absent if the chunk is not among the best keyword matches. */
                lexical?: number;
                /** @description Relevance according to the reranking model, 0 to 1. */
                rerank?: number;
            };
            /** @description Start offset of the chunk in the document, in UTF-16 code units. */
            start: number;
            /** @description Chunk text. */
            text: string;
            /** @description Title of the document; empty if it has none. */
            title: string;
            /** @description URL of the original document. */
            url?: string;
        };
        InputItemList: {
            /** @description The items of this page. */
            data: ({
                /** @description Identifier of the item. */
                id: string;
                /** @description Kind of the item; it has the fields of that kind. */
                type: string;
            } & {
                [key: string]: unknown;
            })[];
            /** @description The first item of this page; null if it is empty. */
            first_id: string | null;
            /** @description Whether there is another page. */
            has_more: boolean;
            /** @description The last item of this page; send it as `after` to get the next page. */
            last_id: string | null;
            /** @constant */
            object: "list";
        };
        InputTokens: {
            /** @description Estimated from the length of what was sent. The server adds its rules and the passages that it finds. */
            input_tokens: number;
            /** @constant */
            object: "response.input_tokens";
        };
        /**
         * @description At most 1,000 questions.
         * @example [
         *       {
         *         "question": "When does the library open?",
         *         "relevant": [
         *           {
         *             "documentId": "doc_0198c5f28f2e7c1b"
         *           }
         *         ],
         *         "facts": [
         *           "nine",
         *           "9:00"
         *         ]
         *       }
         *     ]
         */
        JudgedImport: components["schemas"]["CreateJudgedLine"][];
        JudgedQuestion: {
            /** @description The collection to search; if absent, all documents. */
            collection?: string;
            /**
             * Format: date-time
             * @description When the question was added.
             */
            createdAt: string;
            /** @description Wordings of the answer, one of which a correct answer contains. */
            facts?: string[];
            /** @description Identifier of the question. */
            id: string;
            /** @description The group that the question belongs to. */
            kind?: string;
            /** @description The question, as a user would ask it. */
            question: string;
            /** @description The documents that answer the question, or their pages. */
            relevant: {
                /** @description Identifier of the document. */
                documentId: string;
                /** @description How relevant the document is; higher is better. */
                grade: number;
                /** @description The page with the answer; if absent, every page of the document counts. */
                page?: number;
            }[];
            /**
             * Format: date-time
             * @description When the question was last changed.
             */
            updatedAt: string;
        };
        JudgedQuestionList: {
            /** @description All questions, oldest first. */
            questions: components["schemas"]["JudgedQuestion"][];
        };
        KnownPerson: {
            /** @description Limit on what model calls cost per UTC day across all servers, by the `prices` in `agent.json`. The last call may exceed it; models without a price cost nothing. */
            costPerDay?: number;
            /** @description Address that the issuer gives, only to be shown: it identifies nobody. */
            email?: string;
            /**
             * Format: date-time
             * @description When they first signed in.
             */
            firstSeenAt: string;
            /** @description Their groups when they were last seen. */
            groups: string[];
            /** @description Identifier of the person, `user:` and what the issuer calls them. */
            id: string;
            /**
             * Format: date-time
             * @description When they last made a request, accurate to ten minutes.
             */
            lastSeenAt: string;
            /** @description Name that the issuer gives; it may change. */
            name?: string;
            /** @description Limit on model tokens, sent and received, per UTC day across all servers. The last call of a model may exceed it. */
            tokensPerDay?: number;
        };
        /** @description The line was refused; the other lines are not affected. */
        LineRefused: {
            /** @description Why the line was refused. */
            error: {
                /** @description Stable error code, listed in docs/reference/errors.md. */
                code: string;
                /** @description What is wrong and how to fix it. */
                message: string;
                /** @description Dotted path of the invalid field, or null. */
                param: string | null;
            };
            /** @description Line number in the request, from 1. */
            line: number;
        };
        /** @description One result per non-blank line, in the order of the request. */
        LineResult: components["schemas"]["LineStored"] | components["schemas"]["LineRefused"];
        /** @description The document is durable; ingestion continues in the background. */
        LineStored: {
            /** @description Progress of the embeddings; absent if search is lexical only. */
            embeddings?: {
                /** @description Chunks that have no embedding yet and are found by keywords only. */
                missing: number;
                /** @description Estimated maximum time until none are missing; absent if not known yet. */
                seconds?: number;
            };
            error?: components["schemas"]["DocumentError"];
            /**
             * @description Identifier of the document.
             * @example doc_0198c5f28f2e7c1b
             */
            id: string;
            /** @description Line number in the request, from 1. */
            line: number;
            /**
             * @description Another document that has the same file, if one was uploaded and you may read it.
             * @example doc_0198c5f28f2e7c1b
             */
            sameFile?: string;
            status: components["schemas"]["DocumentStatus"];
        };
        LocalModelServers: {
            /** @description The model servers that were found on this machine. */
            servers: {
                /** @description A value for CHAT_BASE_URL. */
                baseUrl: string;
                /** @description Names of its models. */
                models: string[];
                /** @description Name of the software, such as `Ollama`. */
                name: string;
            }[];
        };
        LogEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description Other fields of the log line. */
            details: {
                [key: string]: unknown;
            };
            /** @description Increases with every event. */
            id: number;
            /**
             * @description Severity of the log line.
             * @enum {string}
             */
            level: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
            /** @description The message that was logged. */
            message: string;
            /** @description The request that it belongs to. */
            requestId?: string;
            /** @constant */
            type: "log";
        };
        McpAccountList: {
            /** @description In the order of `agent.json`. */
            accounts: {
                /**
                 * Format: date-time
                 * @description When you connected your account; absent if it is not connected.
                 */
                connectedAt?: string;
                /** @description Name of the connection in `agent.json`. */
                connection: string;
            }[];
        };
        McpAccountStart: {
            /** @description The address to open in a browser. */
            url: string;
        };
        /** @description A JSON-RPC 2.0 message. */
        McpAnswer: {
            /** @description Always `2.0`. */
            jsonrpc?: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description A JSON-RPC 2.0 message.
         * @example {
         *       "jsonrpc": "2.0",
         *       "id": 1,
         *       "method": "initialize",
         *       "params": {
         *         "protocolVersion": "2025-11-25",
         *         "capabilities": {},
         *         "clientInfo": {
         *           "name": "example",
         *           "version": "1"
         *         }
         *       }
         *     }
         */
        McpMessage: {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "accept": false,
         *       "tool": "echo",
         *       "arguments": {
         *         "message": "Hello"
         *       }
         *     }
         */
        McpTestRequest: {
            /**
             * @description Accept the tool definitions identified by `digest`, so that new or changed tools can be used.
             * @default false
             */
            accept?: boolean | null;
            /** @description Arguments of the tool call. */
            arguments?: {
                [key: string]: unknown;
            } | null;
            /** @description Required with `accept`: the `digest` of the test result you have reviewed. If the server’s tools have changed since, nothing is accepted. */
            digest?: string | null;
            /** @description Name of a tool to call, as the MCP server names it. */
            tool?: string | null;
        };
        McpTestResult: {
            /** @description Files that the called tool returned. */
            artifacts?: components["schemas"]["Artifact"][];
            /** @description Name of the connection in `agent.json`. */
            connection: string;
            /** @description Identifies these tool definitions, so that exactly these can be accepted. */
            digest: string;
            /** @description Whether every step succeeded. */
            ok: boolean;
            /** @description The tool’s output as given to the model. */
            output?: string;
            /** @description What the MCP server says about itself; absent if it was not reached. */
            server?: {
                /** @description Name of the MCP server. */
                name: string;
                /** @description Version of the Model Context Protocol that both speak. */
                protocol: string;
                /**
                 * @description The transport in use.
                 * @enum {string}
                 */
                transport: "streamable-http" | "sse";
                /** @description Version of the MCP server. */
                version: string;
            };
            /** @description The steps taken, in order; a failed step is the last. */
            steps: {
                /** @description The result of the step, or why it failed. */
                message?: string;
                /** @description Duration in milliseconds. */
                milliseconds: number;
                /** @description Whether the step succeeded. */
                ok: boolean;
                /**
                 * @description Name of the step.
                 * @enum {string}
                 */
                step: "configuration" | "connect" | "list-tools" | "accept" | "call-tool";
                /** @description The host that is not public and would have to be listed in OUTBOUND_ALLOW. */
                unlistedHost?: string;
            }[];
            /** @description The tools that the MCP server offers. */
            tools: {
                /** @description What the tool does, in the words of the MCP server. */
                description: string;
                /** @description The name shown to the model. */
                name: string;
                /** @description Why the tool cannot be used. */
                reason?: string;
                /** @description The name on the MCP server. */
                remoteName: string;
                /**
                 * @description `off`: disabled by configuration. `unavailable`: enabled but not working, see `reason`.
                 * @enum {string}
                 */
                state: "on" | "off" | "unavailable";
            }[];
        };
        /**
         * @description Up to 32 flat fields about a document, used in filters and returned with hits.
         * @example {
         *       "language": "en",
         *       "year": 2026,
         *       "public": true
         *     }
         */
        Metadata: {
            [key: string]: string | number | boolean;
        };
        Mistake: {
            /** @description Dotted path of the field; empty if the mistake concerns the whole input. */
            field: string;
            /** @description What is wrong and how to fix it. */
            message: string;
        };
        Model: {
            /** @description When the server was started, in seconds since 1970. */
            created: number;
            /** @description For clients of Anthropic: `created` as a date and time. */
            created_at: string;
            /** @description For clients of Anthropic: the same as `id`. */
            display_name: string;
            /** @description Name to send as `model`. */
            id: string;
            /** @constant */
            object: "model";
            /** @description Always `agent-server`. */
            owned_by: string;
            /**
             * @description For clients of Anthropic.
             * @constant
             */
            type: "model";
        };
        ModelList: {
            /** @description The agent, the agent over each collection, and the model alone. */
            data: components["schemas"]["Model"][];
            /** @description For clients of Anthropic: the first name. */
            first_id: string;
            /** @description For clients of Anthropic: always false. */
            has_more: boolean;
            /** @description For clients of Anthropic: the last name. */
            last_id: string;
            /** @constant */
            object: "list";
        };
        ModelTest: {
            /** @description The results for a chat model. */
            chat?: {
                /** @description What the model answered. */
                answer: string;
                /**
                 * @description How the server is asked: see CHAT_API. Absent for a model without one.
                 * @enum {string}
                 */
                api?: "responses" | "chat-completions" | "messages";
                /** @description Time to the first words of the answer, in milliseconds. */
                firstMilliseconds?: number;
                /**
                 * @description `seen`: the model told the colour of a picture. `ignored`: it accepted the picture but told something else. `none`: it does not accept images.
                 * @enum {string}
                 */
                images: "seen" | "ignored" | "none";
                /** @description Enabled tools left out of a chat because the context window is too small. */
                leftOut: string[];
                /** @description Prompt tokens of a chat’s first question, with the rules, the tools and three passages. */
                promptTokens?: number;
                /** @description Set if the server does not report them, so that they are estimated. */
                promptTokensEstimated?: boolean;
                /**
                 * @description What the model showed of its reasoning; absent if it is not known.
                 * @enum {string}
                 */
                reasoning?: "none" | "summary" | "text";
                /** @description Whether the model streams its answers. */
                streams: boolean;
                /** @description Tokens that the model generates per second. */
                tokensPerSecond?: number;
                /**
                 * @description `called`: the model calls tools. `ignored`: the model was offered a tool but did not call it. `none`: the model does not support tools.
                 * @enum {string}
                 */
                tools: "called" | "ignored" | "none";
                /** @description Size of the context window in tokens, as far as it is known. */
                window: number;
            };
            /**
             * Format: date
             * @description The day on which the model is closed, as its server’s list or its provider has announced it; absent if none is known.
             */
            closesOn?: string;
            /** @description The results for an embedding model. */
            embedding?: {
                /** @description Number of dimensions of its embeddings. */
                dimension: number;
            };
            /** @description What failed and how to fix it. */
            error?: string;
            /**
             * @description Which model was tested.
             * @enum {string}
             */
            kind: "chat" | "embedding" | "reranking";
            /** @description Duration of the whole test. */
            milliseconds: number;
            /** @description Name of the model. */
            model: string;
            /** @description Whether the test succeeded. */
            ok: boolean;
            /** @description The results for a reranking model. */
            reranking?: {
                /** @description Whether the passage with the answer was ranked first. */
                ranksRight: boolean;
                /** @description The relevance of each test passage. */
                scores: number[];
            };
            /** @description That the model closes within 60 days or has closed, and what to do. */
            warning?: string;
        };
        /**
         * @description Use `set` and `clear` to test settings before saving them.
         * @example {
         *       "kind": "chat",
         *       "set": {
         *         "CHAT_MODEL": "gpt-6.1-terra"
         *       }
         *     }
         */
        ModelTestRequest: {
            /**
             * @description Variables to reset to their defaults.
             * @default []
             */
            clear?: string[] | null;
            /**
             * @description Which model to test.
             * @enum {string}
             */
            kind: "chat" | "embedding" | "reranking";
            /** @description New values by variable name. Variables not listed keep their values. */
            set?: {
                [key: string]: string;
            } | null;
        };
        /** @description A JSON Schema. */
        OllamaAnswerSchema: {
            /** @description Type of the answer, such as `object`. */
            type?: unknown;
        } & {
            [key: string]: unknown;
        };
        /** @description The answer as a whole, or the next line of it; `done` is true in the last line. */
        OllamaChatAnswer: {
            /** @description What led to the answer, in the last line. */
            agent?: components["schemas"]["AgentExtra"];
            /** @description When this line was written. */
            created_at: string;
            /** @description Whether this is the last line. */
            done: boolean;
            /**
             * @description Why the answer ended; `agent.finishReason` is more precise.
             * @enum {string}
             */
            done_reason?: "stop" | "length" | "load";
            /** @description Tokens that were generated in the run. */
            eval_count?: number;
            /** @description Time from the beginning of the answer to its end, in nanoseconds. */
            eval_duration?: number;
            /** @description Always 0: the time to load the model is not known. */
            load_duration?: number;
            /** @description The answer, or the next fragment of it. */
            message: {
                /** @description Text of the answer, or of this fragment. */
                content: string;
                /** @constant */
                role: "assistant";
                /** @description The model’s reasoning. */
                thinking?: string;
                /** @description Calls of the client’s own tools. */
                tool_calls?: {
                    /** @description The function to call. */
                    function: {
                        /** @description Its arguments. */
                        arguments: unknown;
                        /** @description Position among the calls, from 0. */
                        index: number;
                        /** @description Name of the function. */
                        name: string;
                    };
                    /** @description Identifier of the call. */
                    id: string;
                }[];
            };
            /** @description The model of the request. */
            model: string;
            /** @description Tokens of all prompts of the run. */
            prompt_eval_count?: number;
            /** @description Time until the answer began, in nanoseconds. */
            prompt_eval_duration?: number;
            /** @description Duration of the run in nanoseconds. */
            total_duration?: number;
        };
        /**
         * @example {
         *       "model": "agent",
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "When does the library open?"
         *         }
         *       ]
         *     }
         */
        OllamaChatRequest: {
            citationCheck?: ("words" | "model") | null;
            /** @description Only documents in this collection, that is, with this name in the metadata field `collection`. `default` contains the documents without that field. If absent, all documents. */
            collection?: string | null;
            /** @description Identifies the conversation, so that state kept by tools, such as a sandbox, is available to the next request. Without it, no state is kept. */
            conversationId?: string | null;
            effort?: ("low" | "medium" | "high") | null;
            filter?: components["schemas"]["Filter"] | null;
            /** @description `json`, or a JSON Schema of the answer. */
            format?: (("" | "json") | components["schemas"]["OllamaAnswerSchema"]) | null;
            /** @description The conversation. Without messages nothing is generated. */
            messages?: {
                /** @description Text of the message. */
                content?: string | null;
                /** @description JPEG, PNG, GIF or WebP in base64, for models that support images. */
                images?: string[] | null;
                /**
                 * @description Who speaks.
                 * @enum {string}
                 */
                role: "system" | "user" | "assistant" | "tool";
                /** @description In a result: the `id` of the call. */
                tool_call_id?: string | null;
                /** @description Calls of the client’s own tools. */
                tool_calls?: {
                    /** @description The function that was called. */
                    function: {
                        /** @description Its arguments. */
                        arguments: {
                            [key: string]: unknown;
                        };
                        /** @description Name of the function. */
                        name: string;
                    };
                    /** @description Identifier of the call. */
                    id?: string | null;
                }[] | null;
                /** @description In a result: the tool that was called. */
                tool_name?: string | null;
            }[] | null;
            /** @description Leaves out chunks with a lower `score`, 0 to 1: an answer may then have no hits. */
            minScore?: number | null;
            mode?: ("hybrid" | "lexical" | "dense") | null;
            /** @description The agent, or `<agent>:<collection>`; `<agent>:latest` also means the agent. Any other name also selects the agent. */
            model: string;
            /** @description Options of the model; all others are ignored and named in the header `warnings`. */
            options?: {
                /** @description Passed to the model. */
                frequency_penalty?: number | null;
                /** @description Maximum number of tokens that the model may generate per call; no limit if negative. */
                num_predict?: number | null;
                /** @description Passed to the model. */
                presence_penalty?: number | null;
                /** @description Passed to the model. */
                seed?: number | null;
                /** @description Texts at which the model stops. */
                stop?: (string | string[]) | null;
                /** @description Passed to the model. */
                temperature?: number | null;
                /** @description Passed to the model. */
                top_p?: number | null;
            } | null;
            resume?: components["schemas"]["Resume"] | null;
            /**
             * @description Whether a follow-up that cannot be understood alone is rewritten before the search. The chat model rewrites it as a standalone question in a separate call, which counts towards the usage; without a generating model, it is searched for together with the previous questions.
             * @default true
             */
            rewrite?: boolean | null;
            /** @description Whether to stream lines. Default: true. */
            stream?: boolean | null;
            /** @description Whether to also send the model’s reasoning, in `thinking`. */
            think?: (boolean | ("low" | "medium" | "high" | "max")) | null;
            /** @description The client’s own tools. */
            tools?: {
                /** @description The function. */
                function: {
                    /** @description What the function does, for the model. */
                    description?: string | null;
                    /** @description Name of the function. */
                    name: string;
                    /** @description JSON Schema of its arguments. */
                    parameters?: {
                        [key: string]: unknown;
                    } | null;
                };
                /**
                 * @default function
                 * @constant
                 */
                type?: "function";
            }[] | null;
            /** @description Maximum number of context chunks to retrieve, up to 100; 0 retrieves none. Default: the server's TOP_K. */
            topK?: number | null;
        };
        OllamaEmbedding: {
            /** @description A vector of length 1. */
            embedding: number[];
        };
        /**
         * @example {
         *       "prompt": "Owls hunt at night."
         *     }
         */
        OllamaEmbeddingRequest: {
            /** @description Ignored; the configured model is used. */
            model?: string | null;
            /** @description The text to embed. */
            prompt: string;
        };
        OllamaEmbeddings: {
            /** @description Vectors of length 1. */
            embeddings: number[][];
            /** @description Always 0: the time to load the model is not known. */
            load_duration: number;
            /** @description Name of the configured embedding model. */
            model: string;
            /** @description Estimated from the length of the texts. */
            prompt_eval_count: number;
            /** @description Duration in nanoseconds. */
            total_duration: number;
        };
        /**
         * @example {
         *       "model": "agent",
         *       "input": "Owls hunt at night."
         *     }
         */
        OllamaEmbedRequest: {
            /** @description If given, must be the number of dimensions of the configured model. */
            dimensions?: number | null;
            /** @description The text or the texts to embed. */
            input: string | string[];
            /** @description Ignored; the configured model is used. */
            model?: string | null;
        };
        OllamaError: {
            /** @description Stable error code, listed in docs/reference/errors.md. */
            code: string;
            /** @description What went wrong and how to fix it. */
            error: string;
            /** @description Dotted path of the invalid field, or null. */
            param: string | null;
            /** @description Identifies the request; also in the log. */
            request_id: string;
        };
        /** @description The answer as a whole, or the next line of it; `done` is true in the last line. */
        OllamaGenerateAnswer: {
            /** @description What led to the answer, in the last line. */
            agent?: components["schemas"]["AgentExtra"];
            /** @description When this line was written. */
            created_at: string;
            /** @description Whether this is the last line. */
            done: boolean;
            /**
             * @description Why the answer ended; `agent.finishReason` is more precise.
             * @enum {string}
             */
            done_reason?: "stop" | "length" | "load";
            /** @description Tokens that were generated in the run. */
            eval_count?: number;
            /** @description Time from the beginning of the answer to its end, in nanoseconds. */
            eval_duration?: number;
            /** @description Always 0: the time to load the model is not known. */
            load_duration?: number;
            /** @description The model of the request. */
            model: string;
            /** @description Tokens of all prompts of the run. */
            prompt_eval_count?: number;
            /** @description Time until the answer began, in nanoseconds. */
            prompt_eval_duration?: number;
            /** @description Text of the answer, or of this fragment. */
            response: string;
            /** @description The model’s reasoning. */
            thinking?: string;
            /** @description Duration of the run in nanoseconds. */
            total_duration?: number;
        };
        /**
         * @example {
         *       "model": "agent",
         *       "prompt": "When does the library open?"
         *     }
         */
        OllamaGenerateRequest: {
            citationCheck?: ("words" | "model") | null;
            /** @description Only documents in this collection, that is, with this name in the metadata field `collection`. `default` contains the documents without that field. If absent, all documents. */
            collection?: string | null;
            /** @description Identifies the conversation, so that state kept by tools, such as a sandbox, is available to the next request. Without it, no state is kept. */
            conversationId?: string | null;
            effort?: ("low" | "medium" | "high") | null;
            filter?: components["schemas"]["Filter"] | null;
            /** @description `json`, or a JSON Schema of the answer. */
            format?: (("" | "json") | components["schemas"]["OllamaAnswerSchema"]) | null;
            /** @description JPEG, PNG, GIF or WebP in base64, for models that support images. */
            images?: string[] | null;
            /** @description Leaves out chunks with a lower `score`, 0 to 1: an answer may then have no hits. */
            minScore?: number | null;
            mode?: ("hybrid" | "lexical" | "dense") | null;
            /** @description The agent, or `<agent>:<collection>`; `<agent>:latest` also means the agent. Any other name also selects the agent. */
            model: string;
            /** @description Options of the model; all others are ignored and named in the header `warnings`. */
            options?: {
                /** @description Passed to the model. */
                frequency_penalty?: number | null;
                /** @description Maximum number of tokens that the model may generate per call; no limit if negative. */
                num_predict?: number | null;
                /** @description Passed to the model. */
                presence_penalty?: number | null;
                /** @description Passed to the model. */
                seed?: number | null;
                /** @description Texts at which the model stops. */
                stop?: (string | string[]) | null;
                /** @description Passed to the model. */
                temperature?: number | null;
                /** @description Passed to the model. */
                top_p?: number | null;
            } | null;
            /** @description The question. Without one nothing is generated. */
            prompt?: string | null;
            resume?: components["schemas"]["Resume"] | null;
            /**
             * @description Whether a follow-up that cannot be understood alone is rewritten before the search. The chat model rewrites it as a standalone question in a separate call, which counts towards the usage; without a generating model, it is searched for together with the previous questions.
             * @default true
             */
            rewrite?: boolean | null;
            /** @description Whether to stream lines. Default: true. */
            stream?: boolean | null;
            /** @description Not supported: the agent answers questions; it does not complete text. */
            suffix?: string | null;
            /** @description Instructions to the agent. */
            system?: string | null;
            /** @description Whether to also send the model’s reasoning, in `thinking`. */
            think?: (boolean | ("low" | "medium" | "high" | "max")) | null;
            /** @description Maximum number of context chunks to retrieve, up to 100; 0 retrieves none. Default: the server's TOP_K. */
            topK?: number | null;
        };
        OllamaModelInfo: {
            /** @description What the agent can do, such as `tools` and `vision`. */
            capabilities: string[];
            /** @description Mostly empty: the agent is not a model of Ollama. */
            details: {
                /** @description Only `family`. */
                families: string[];
                /** @description Name of this kind of model. */
                family: string;
                /** @description Always empty. */
                format: string;
                /** @description Always empty. */
                parameter_size: string;
                /** @description Always empty. */
                parent_model: string;
                /** @description Always empty. */
                quantization_level: string;
            };
            /** @description Always empty. */
            license: string;
            /** @description Facts about the model, such as its context window. */
            model_info: {
                [key: string]: unknown;
            };
            /** @description Always empty. */
            modelfile: string;
            /** @description When the server was started. */
            modified_at: string;
            /** @description Always empty. */
            parameters: string;
            /** @description Always empty. */
            template: string;
        };
        /** @description The agent, the agent over each collection, and the model alone. */
        OllamaModels: {
            /** @description The agent, the agent over each collection, and the model alone. */
            models: {
                /** @description Mostly empty: the agent is not a model of Ollama. */
                details: {
                    /** @description Only `family`. */
                    families: string[];
                    /** @description Name of this kind of model. */
                    family: string;
                    /** @description Always empty. */
                    format: string;
                    /** @description Always empty. */
                    parameter_size: string;
                    /** @description Always empty. */
                    parent_model: string;
                    /** @description Always empty. */
                    quantization_level: string;
                };
                /** @description Made from the name. */
                digest: string;
                /** @description Same as `name`. */
                model: string;
                /** @description When the server was started. */
                modified_at: string;
                /** @description Name to send as `model`. */
                name: string;
                /** @description Always 0. */
                size: number;
            }[];
        };
        /**
         * @example {
         *       "model": "agent"
         *     }
         */
        OllamaShowRequest: {
            /** @description Name of the model. */
            model?: string | null;
            /** @description Sent by older clients instead of `model`. */
            name?: string | null;
        };
        OllamaVersion: {
            /** @description The version of Ollama’s API that this server implements. */
            version: string;
        };
        OwnUsage: {
            /** @description The currency of the prices in `agent.json`. */
            currency: string;
            /** @description Each day of the last 30 with any use, the latest first. */
            days: components["schemas"]["UsageRow"][];
            /** @description All that count; empty if there are none. */
            limits: components["schemas"]["UsageLeft"][];
            /** @description What was used in the current UTC day. */
            today: {
                /** @description Of these, what the model’s server took from its cache. */
                cachedTokens: number;
                /** @description Calls of models. */
                calls: number;
                /** @description What they cost, in `currency`; absent if none of the models had a price. */
                cost?: number;
                /** @description Tokens sent. */
                inputTokens: number;
                /** @description Tokens received. */
                outputTokens: number;
                /** @description Calls that `cost` leaves out, since their model had no price; absent if there are none. */
                unpricedCalls?: number;
            };
        };
        PeopleList: {
            /** @description Of the next page; absent on the last one. */
            nextCursor?: string;
            /** @description In the order in which they first signed in. */
            people: components["schemas"]["KnownPerson"][];
        };
        /**
         * @description `null` takes a limit away, so that those of `agent.json` count again.
         * @example {
         *       "tokensPerDay": 500000
         *     }
         */
        PersonChange: {
            /** @description Limit on what model calls cost per UTC day across all servers, by the `prices` in `agent.json`. The last call may exceed it; models without a price cost nothing. */
            costPerDay?: number | null;
            /** @description Limit on model tokens, sent and received, per UTC day across all servers. The last call of a model may exceed it. */
            tokensPerDay?: number | null;
        };
        PersonRemoved: {
            /** @description Whether nothing was changed. */
            dryRun: boolean;
            /** @description What stays. */
            handedOn: {
                /** @description Collections that they have created. */
                collections: number;
                /** @description Documents that they have added. */
                documents: number;
                /** @description `handTo`; absent for nobody. */
                to?: string;
            };
            /** @description Identifier of the person, `user:` and what the issuer calls them. */
            id: string;
            /** @description What belonged to them alone. */
            removed: {
                /** @description Accounts at MCP servers that they have connected. */
                accounts: number;
                /** @description Files that answers made, stored responses and waiting runs. */
                artifacts: number;
                /** @description Conversations, with all of their answers. */
                conversations: number;
                /** @description Documents of these conversations. */
                documents: number;
                /** @description Ratings of answers. */
                feedback: number;
                /** @description API keys that they have made as an administrator. */
                keys: number;
                /** @description Sessions of the web UI, which end at once. */
                sessions: number;
            };
        };
        /** @description Progress of the model’s server before the answer begins: it is loading the model, or has processed this many tokens of the prompt. Only with `includeSteps`. */
        ProgressFrame: {
            /**
             * @description `loading`: the model is being loaded. `prefill`: the prompt is being processed.
             * @enum {string}
             */
            phase: "loading" | "prefill";
            /** @description Prompt tokens processed so far. */
            processed?: number;
            /** @description Prompt tokens in total. */
            total?: number;
            /** @constant */
            type: "progress";
        };
        ProviderModels: {
            /** @description The day on which a model is closed, by its name, if that is announced. */
            closings: {
                [key: string]: string;
            };
            /** @description The names of the models that the provider offers. */
            models: string[];
        };
        /**
         * @example {
         *       "query": "When does the library open?",
         *       "topK": 3
         *     }
         */
        QueryRequest: {
            /** @description Only documents in this collection, that is, with this name in the metadata field `collection`. `default` contains the documents without that field. If absent, all documents. */
            collection?: string | null;
            effort?: ("low" | "medium" | "high") | null;
            /** @description Include the score from each stage of the search in each hit. */
            explain?: boolean | null;
            filter?: components["schemas"]["Filter"] | null;
            /** @description Leaves out chunks with a lower `score`, 0 to 1: an answer may then have no hits. */
            minScore?: number | null;
            mode?: ("hybrid" | "lexical" | "dense") | null;
            /** @description The question or text to search for. */
            query: string;
            /**
             * @description Maximum number of chunks to return, 1 to 100.
             * @default 5
             */
            topK?: number | null;
        };
        QueryResult: {
            /** @description Words that no document has, and that the search took for typing errors. Absent if there are none. */
            corrections?: components["schemas"]["Correction"][];
            /** @description A model used by the search did not respond, or cannot read the question, or the vectors are lost. Without the embedding model or the vectors, search is lexical only; without the reranking model, hits keep their original order; without the chat model, a follow-up is searched for together with the previous questions, and `effort` ends early. In `/readiness`, also set if ingestion has stopped. Absent otherwise. */
            degraded?: boolean;
            /** @description The matching chunks, best first. */
            hits: components["schemas"]["Hit"][];
            /** @description The original query. */
            query: string;
            /** @description What was done. Only with `effort` medium or high, or if several questions are asked. */
            steps?: components["schemas"]["SearchStep"][];
            /** @description Tokens of the search; absent if no chat model was used, or it does not report them. */
            usage?: components["schemas"]["Usage"];
        };
        /**
         * @description Whether the answer was good (`up`) or bad (`down`).
         * @enum {string}
         */
        Rating: "up" | "down";
        Readiness: {
            /** @description One entry per part: `store`, `index`, `agent`, `ingestion` and, if configured, `embedder` and `reranker`. A failure of one of the last three makes the server `degraded` rather than `not_ready`, since it can respond without them. */
            checks: {
                [key: string]: {
                    /** @description The reason for a failure. */
                    message?: string;
                    /** @description Duration of the check in milliseconds. */
                    milliseconds: number;
                    /**
                     * @description Whether the part works.
                     * @enum {string}
                     */
                    state: "ok" | "failed";
                };
            };
            /** @description Progress of the contexts of chunks; absent if CHUNK_CONTEXT is off. */
            contexts?: {
                /** @description How many are still to be written, as last counted. */
                missing: number;
                /** @description Why the chat model is not working, or wrote nothing the last time. */
                reason?: string;
                /** @description How many the chat model did not write. */
                refused: number;
                /** @description Estimated time until none are missing. */
                seconds?: number;
                /**
                 * @description `waiting`: the chat model is not working, see `reason`.
                 * @enum {string}
                 */
                state: "done" | "writing" | "waiting";
                /** @description Tokens used for them since the server was started. */
                tokens: number;
            };
            /** @description A model used by the search did not respond, or cannot read the question, or the vectors are lost. Without the embedding model or the vectors, search is lexical only; without the reranking model, hits keep their original order; without the chat model, a follow-up is searched for together with the previous questions, and `effort` ends early. In `/readiness`, also set if ingestion has stopped. Absent otherwise. */
            degraded?: boolean;
            /** @description Number of documents by status. */
            documents?: {
                /** @description Documents whose ingestion failed. */
                failed: number;
                /** @description Documents waiting for ingestion. */
                pending: number;
                /** @description Documents being ingested. */
                processing: number;
                /** @description Documents that queries find. */
                ready: number;
            };
            /** @description Progress of the embeddings; absent if search is lexical only. */
            embeddings?: {
                /** @description Chunks that have no embedding yet and are found by keywords only, as last counted. */
                missing: number;
                /** @description Why the embedding model is not working. */
                reason?: string;
                /** @description Chunks that the embedding model refused. */
                refused: number;
                /** @description Estimated time until none are missing. */
                seconds?: number;
                /**
                 * @description `done`: every chunk of every server has been counted and has its embedding. `waiting`: the embedding model is not working, see `reason`.
                 * @enum {string}
                 */
                state: "done" | "embedding" | "waiting";
            };
            /** @description Progress of the descriptions of pictures; absent if PICTURE_DESCRIPTIONS is off. */
            pictures?: {
                /** @description How many are still to be written, as last counted. */
                missing: number;
                /** @description Why the chat model is not working, or wrote nothing the last time. */
                reason?: string;
                /** @description How many the chat model did not write. */
                refused: number;
                /** @description Estimated time until none are missing. */
                seconds?: number;
                /**
                 * @description `waiting`: the chat model is not working, see `reason`.
                 * @enum {string}
                 */
                state: "done" | "writing" | "waiting";
                /** @description Tokens used for them since the server was started. */
                tokens: number;
            };
            /** @description Progress of the vectors for EMBEDDING_MODEL_NEXT. */
            reEmbedding?: {
                /** @description Chunks that have their new vector. */
                done: number;
                /** @description The new embedding model. */
                model: string;
                /** @description Why it waits. */
                reason?: string;
                /**
                 * @description `ready`: the next start with this model as EMBEDDING_MODEL switches to the new vectors. `waiting`: will be retried, see `reason`.
                 * @enum {string}
                 */
                state: "embedding" | "ready" | "waiting";
                /** @description Chunks in total. */
                total: number;
            };
            /**
             * @description `lexical`: BM25 only. `hybrid`: BM25 combined with embeddings.
             * @enum {string}
             */
            retrieval: "lexical" | "hybrid";
            /**
             * @description Whether the server can answer.
             * @enum {string}
             */
            status: "ready" | "not_ready";
            /** @description What works but not well, or not for long; `status` does not depend on it. A model is named from 60 days before it closes. */
            warnings?: {
                /**
                 * Format: date
                 * @description The day on which it is closed, or was.
                 */
                closesOn?: string;
                /**
                 * @description `model_closes`: its provider closes a model. `clock_jumped`: the clock went forward or back; for an hour, nothing is deleted because of its age. `language_mismatch`: many documents or questions are in a language that search is not set up for.
                 * @enum {string}
                 */
                code: "model_closes" | "clock_jumped" | "language_mismatch";
                /** @description What happens, when, and what to do. */
                message: string;
                /** @description Name of the model that closes. */
                model?: string;
            }[];
        };
        /** @description The next fragment of the model’s reasoning. Only with `includeSteps`. */
        ReasoningDeltaFrame: {
            /** @description The fragment. */
            text: string;
            /** @constant */
            type: "reasoning-delta";
        };
        RelevantDocument: {
            /**
             * @description Identifier of the document.
             * @example doc_0198c5f28f2e7c1b
             */
            documentId: string;
            /**
             * @description How relevant the document is; higher is better.
             * @default 1
             */
            grade?: number | null;
            /** @description The page with the answer; if absent, every page of the document counts. */
            page?: number | null;
        };
        Removed: {
            /** @description Always true. */
            deleted: boolean;
            /** @description Identifier of what was removed. */
            id: string;
            /** @description Kind of what was removed. */
            object: string;
        };
        RequestEvent: {
            /** @description The client’s IP address. */
            address?: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description Increases with every event. */
            id: number;
            /** @description Name and id of the key, unless it was the SERVER_API_KEY. */
            key?: string;
            /** @description HTTP method of the request. */
            method: string;
            /** @description Duration in milliseconds. */
            milliseconds: number;
            /** @description The operation id in this contract; `unknown` if no route matched. */
            operation: string;
            /** @description Path of the request, without its query. */
            path: string;
            /** @description Identifies the request, as in the `x-request-id` header. */
            requestId?: string;
            /** @description HTTP status; 499 if the client disconnected before the response was complete; the status of the error if a stream failed after it had begun with 200. */
            status: number;
            /** @constant */
            type: "request";
        };
        ResponseDeleted: {
            /** @description Always true. */
            deleted: boolean;
            /** @description Identifier of the response. */
            id: string;
            /** @constant */
            object: "response";
        };
        /** @description The JSON object in each `data` line; the event is named after its `type`. The last event is `response.completed`, `response.incomplete`, `response.failed` or, if the response had not begun, `error`. */
        ResponseEvent: {
            /** @description The citation that was added. */
            annotation?: components["schemas"]["FileCitation"];
            /** @description Position of the citation in the annotations. */
            annotation_index?: number;
            /** @description The whole arguments, in JSON. */
            arguments?: string;
            /** @description Stable error code. */
            code?: string;
            /** @description Position of the part in the content of the item. */
            content_index?: number;
            /** @description The next fragment. */
            delta?: string;
            /** @description The item that was added or is done. */
            item?: components["schemas"]["ResponseOutputItem"];
            /** @description Identifier of the item. */
            item_id?: string;
            /** @description Always empty. */
            logprobs?: unknown[];
            /** @description What went wrong and how to fix it. */
            message?: string;
            /** @description Name of the called function. */
            name?: string;
            /** @description Position of the item in `output`. */
            output_index?: number;
            /** @description Dotted path of the invalid field, or null. */
            param?: string | null;
            /** @description The part that was added or is done. */
            part?: {
                /** @description One for each citation in the text, in order. */
                annotations: components["schemas"]["FileCitation"][];
                /** @description Always empty. */
                logprobs: unknown[];
                /** @description Text of the part. */
                text: string;
                /** @constant */
                type: "output_text";
            } | {
                /** @description The thinking. */
                text: string;
                /** @constant */
                type: "summary_text";
            };
            /** @description The response so far. */
            response?: components["schemas"]["AgentResponse"];
            /** @description Position of the event in the stream, from 0. */
            sequence_number: number;
            /** @description Position of the part in the summary. */
            summary_index?: number;
            /** @description The whole text. */
            text?: string;
            /**
             * @description Kind of the event.
             * @enum {string}
             */
            type: "response.created" | "response.in_progress" | "response.output_item.added" | "response.file_search_call.in_progress" | "response.file_search_call.searching" | "response.file_search_call.completed" | "response.content_part.added" | "response.output_text.delta" | "response.output_text.annotation.added" | "response.output_text.done" | "response.content_part.done" | "response.function_call_arguments.delta" | "response.function_call_arguments.done" | "response.reasoning_summary_part.added" | "response.reasoning_summary_text.delta" | "response.reasoning_summary_text.done" | "response.reasoning_summary_part.done" | "response.output_item.done" | "response.completed" | "response.incomplete" | "response.failed" | "error";
        };
        ResponseInputItem: components["schemas"]["ResponseInputItemMessage"] | components["schemas"]["ResponseInputItemFunctionCall"] | components["schemas"]["ResponseInputItemFunctionCallOutput"] | components["schemas"]["ResponseInputItemItemReference"] | components["schemas"]["ResponseInputItemCustomToolCall"] | components["schemas"]["ResponseInputItemCustomToolCallOutput"] | components["schemas"]["ResponseInputItemFileSearchCall"] | components["schemas"]["ResponseInputItemAdditionalTools"] | components["schemas"]["ResponseInputItemReasoning"];
        ResponseInputItemAdditionalTools: {
            /**
             * @description Left out, and named in the header `warnings`: the server has no such tool.
             * @enum {string}
             */
            type: "additional_tools" | "apply_patch_call" | "apply_patch_call_output" | "code_interpreter_call" | "compaction" | "compaction_trigger" | "computer_call" | "computer_call_output" | "configuration_update" | "image_generation_call" | "local_shell_call" | "local_shell_call_output" | "mcp_approval_request" | "mcp_approval_response" | "mcp_call" | "mcp_list_tools" | "program" | "program_output" | "shell_call" | "shell_call_output" | "tool_search_call" | "tool_search_output" | "web_search_call";
        };
        ResponseInputItemCustomToolCall: {
            /** @description Identifier of the call. */
            call_id: string;
            /** @description What the tool was sent. */
            input: string;
            /** @description Name of the tool. */
            name: string;
            /** @constant */
            type: "custom_tool_call";
        };
        ResponseInputItemCustomToolCallOutput: {
            /** @description Identifier of the call. */
            call_id: string;
            /** @description The result of the call. */
            output: string | ({
                /** @description Text of the part. */
                text: string;
                /**
                 * @description Kind of the part; all three mean the same.
                 * @enum {string}
                 */
                type: "input_text" | "output_text" | "text";
            } | {
                /** @description Text with which the model declined. */
                refusal: string;
                /** @constant */
                type: "refusal";
            } | {
                /** @description How closely the model should look; passed on. */
                detail?: string | null;
                /** @description HTTPS URL, or the image as a data URL. */
                image_url: string;
                /** @constant */
                type: "input_image";
            } | {
                /** @description The file as a data URL or in base64, which the server reads. */
                file_data?: string | null;
                /**
                 * @description Instead of that, a file that was uploaded before.
                 * @example doc_0198c5f28f2e7c1b
                 */
                file_id?: string | null;
                /** @description Refused: files are not fetched. */
                file_url?: string | null;
                /** @description Name of the file. */
                filename?: string | null;
                /** @constant */
                type: "input_file";
            })[];
            /** @constant */
            type: "custom_tool_call_output";
        };
        ResponseInputItemFileSearchCall: {
            /**
             * @description It has no effect.
             * @constant
             */
            type: "file_search_call";
        };
        ResponseInputItemFunctionCall: {
            /** @description Its arguments, in JSON. */
            arguments: string;
            /** @description Identifier of the call. */
            call_id: string;
            /** @description Data that the model’s provider attached to the call and expects back with its result. */
            extra_content?: {
                [key: string]: unknown;
            } | null;
            /** @description Name of the function. */
            name: string;
            /** @constant */
            type: "function_call";
        };
        ResponseInputItemFunctionCallOutput: {
            /** @description Identifier of the call. */
            call_id: string;
            /** @description The result of the call. */
            output: string | ({
                /** @description Text of the part. */
                text: string;
                /**
                 * @description Kind of the part; all three mean the same.
                 * @enum {string}
                 */
                type: "input_text" | "output_text" | "text";
            } | {
                /** @description Text with which the model declined. */
                refusal: string;
                /** @constant */
                type: "refusal";
            } | {
                /** @description How closely the model should look; passed on. */
                detail?: string | null;
                /** @description HTTPS URL, or the image as a data URL. */
                image_url: string;
                /** @constant */
                type: "input_image";
            } | {
                /** @description The file as a data URL or in base64, which the server reads. */
                file_data?: string | null;
                /**
                 * @description Instead of that, a file that was uploaded before.
                 * @example doc_0198c5f28f2e7c1b
                 */
                file_id?: string | null;
                /** @description Refused: files are not fetched. */
                file_url?: string | null;
                /** @description Name of the file. */
                filename?: string | null;
                /** @constant */
                type: "input_file";
            })[];
            /** @constant */
            type: "function_call_output";
        };
        ResponseInputItemItemReference: {
            /** @description An item of an earlier response. */
            id: string;
            /** @constant */
            type: "item_reference";
        };
        ResponseInputItemMessage: {
            /** @description The text, or its parts. */
            content: string | ({
                /** @description Text of the part. */
                text: string;
                /**
                 * @description Kind of the part; all three mean the same.
                 * @enum {string}
                 */
                type: "input_text" | "output_text" | "text";
            } | {
                /** @description Text with which the model declined. */
                refusal: string;
                /** @constant */
                type: "refusal";
            } | {
                /** @description How closely the model should look; passed on. */
                detail?: string | null;
                /** @description HTTPS URL, or the image as a data URL. */
                image_url: string;
                /** @constant */
                type: "input_image";
            } | {
                /** @description The file as a data URL or in base64, which the server reads. */
                file_data?: string | null;
                /**
                 * @description Instead of that, a file that was uploaded before.
                 * @example doc_0198c5f28f2e7c1b
                 */
                file_id?: string | null;
                /** @description Refused: files are not fetched. */
                file_url?: string | null;
                /** @description Name of the file. */
                filename?: string | null;
                /** @constant */
                type: "input_file";
            })[];
            /**
             * @description Who speaks; `developer` means the same as `system`.
             * @enum {string}
             */
            role: "user" | "assistant" | "system" | "developer";
            /** @constant */
            type?: "message";
        };
        ResponseInputItemReasoning: {
            /** @description The reasoning before the calls that follow, as it was received. */
            encrypted_content?: string | null;
            /** @constant */
            type: "reasoning";
        };
        ResponseOutputItem: components["schemas"]["ResponseOutputItemMessage"] | components["schemas"]["ResponseOutputItemFunctionCall"] | components["schemas"]["ResponseOutputItemReasoning"] | components["schemas"]["ResponseOutputItemFileSearchCall"];
        ResponseOutputItemFileSearchCall: {
            /** @description Identifier of the item. */
            id: string;
            /** @description What was searched for. */
            queries: string[];
            /** @description The passages; null unless the request has `include: ["file_search_call.results"]`. */
            results: {
                /** @description The metadata of the document. */
                attributes: {
                    [key: string]: unknown;
                };
                /** @description Identifier of the document. */
                file_id: string;
                /** @description Title of the document, or its id. */
                filename: string;
                /** @description Relevance of the passage, from 0 to 1. */
                score: number;
                /** @description The text of the passage. */
                text: string;
                /** @description Always null. */
                vector_store_id: string | null;
            }[] | null;
            /**
             * @description Whether it is complete; `incomplete` if it was cut off.
             * @enum {string}
             */
            status: "in_progress" | "completed" | "incomplete" | "failed";
            /** @constant */
            type: "file_search_call";
        };
        ResponseOutputItemFunctionCall: {
            /** @description Its arguments, in JSON. */
            arguments: string;
            /** @description Identifier of the call, for its result. */
            call_id: string;
            /** @description Data of the model’s provider; send it back unchanged. */
            extra_content?: unknown;
            /** @description Identifier of the item. */
            id: string;
            /** @description Name of the client’s function to call. */
            name: string;
            /**
             * @description Whether it is complete; `incomplete` if it was cut off.
             * @enum {string}
             */
            status: "in_progress" | "completed" | "incomplete" | "failed";
            /** @constant */
            type: "function_call";
        };
        ResponseOutputItemMessage: {
            /** @description The answer: always one part. */
            content: {
                /** @description One for each citation in the text, in order. */
                annotations: components["schemas"]["FileCitation"][];
                /** @description Always empty. */
                logprobs: unknown[];
                /** @description Text of the part. */
                text: string;
                /** @constant */
                type: "output_text";
            }[];
            /** @description Identifier of the item. */
            id: string;
            /** @constant */
            role: "assistant";
            /**
             * @description Whether it is complete; `incomplete` if it was cut off.
             * @enum {string}
             */
            status: "in_progress" | "completed" | "incomplete" | "failed";
            /** @constant */
            type: "message";
        };
        ResponseOutputItemReasoning: {
            /** @description The model’s reasoning; send it back unchanged with the results of the calls. */
            encrypted_content?: string;
            /** @description Identifier of the item. */
            id: string;
            /**
             * @description Whether it is complete; `incomplete` if it was cut off.
             * @enum {string}
             */
            status: "in_progress" | "completed" | "incomplete" | "failed";
            /** @description The model’s thinking, if it shows it. */
            summary: {
                /** @description The thinking. */
                text: string;
                /** @constant */
                type: "summary_text";
            }[];
            /** @constant */
            type: "reasoning";
        };
        /**
         * @example {
         *       "model": "agent",
         *       "input": "When does the library open?"
         *     }
         */
        ResponseRequest: {
            /** @description Only false is supported. */
            background?: boolean | null;
            citationCheck?: ("words" | "model") | null;
            /** @description Only documents in this collection, that is, with this name in the metadata field `collection`. `default` contains the documents without that field. If absent, all documents. */
            collection?: string | null;
            /** @description The stored conversation to continue. The input and the output are added to it. Cannot be combined with `previous_response_id`. */
            conversation?: (string | {
                /** @description Identifier of the conversation. */
                id: string;
            }) | null;
            /** @description Identifies the conversation, so that state kept by tools, such as a sandbox, is available to the next request. Without it, no state is kept. */
            conversationId?: string | null;
            effort?: ("low" | "medium" | "high") | null;
            filter?: components["schemas"]["Filter"] | null;
            /** @description What to include in the response; only `file_search_call.results` has an effect. */
            include?: ("file_search_call.results" | "reasoning.encrypted_content" | "web_search_call.results" | "web_search_call.action.sources" | "message.input_image.image_url" | "computer_call_output.output.image_url" | "code_interpreter_call.outputs")[] | null;
            /** @description The question, or the new items since the previous response. */
            input: string | components["schemas"]["ResponseInputItem"][];
            /** @description Instructions to the agent, for this response only. */
            instructions?: string | null;
            /** @description Maximum number of tokens that the model may generate per call. */
            max_output_tokens?: number | null;
            /** @description Not supported: limits are set in agent.json. */
            max_tool_calls?: string | null;
            /** @description Fields of your own, returned with the response. */
            metadata?: {
                [key: string]: string;
            } | null;
            /** @description Leaves out chunks with a lower `score`, 0 to 1: an answer may then have no hits. */
            minScore?: number | null;
            mode?: ("hybrid" | "lexical" | "dense") | null;
            /** @description The agent, `<agent>:<collection>`, or `<agent>-plain` for the model without documents and tools. Any other name also selects the agent. */
            model?: string | null;
            /** @description Only true is supported. */
            parallel_tool_calls?: boolean | null;
            /** @description The stored response to continue from. */
            previous_response_id?: string | null;
            /** @description Not supported: the prompt is set in agent.json; use instructions. */
            prompt?: string | null;
            /** @description Options of the model’s reasoning. */
            reasoning?: {
                /** @description Passed to the model. */
                effort?: string | null;
            } | null;
            resume?: components["schemas"]["Resume"] | null;
            /**
             * @description Whether a follow-up that cannot be understood alone is rewritten before the search. The chat model rewrites it as a standalone question in a separate call, which counts towards the usage; without a generating model, it is searched for together with the previous questions.
             * @default true
             */
            rewrite?: boolean | null;
            /**
             * @description Whether to store the response for `GET` and `previous_response_id`. Stored responses are kept for 30 days; if space runs out, the oldest of the key that has the most are deleted earlier.
             * @default true
             */
            store?: boolean | null;
            /**
             * @description Whether to stream events.
             * @default false
             */
            stream?: boolean | null;
            /** @description Passed to the model. */
            temperature?: number | null;
            /** @description Options of the text. */
            text?: {
                /** @description The format of the answer. */
                format?: ({
                    /**
                     * @description Text, any JSON, or JSON that fits a schema.
                     * @enum {string}
                     */
                    type: "text" | "json_object" | "json_schema";
                } & {
                    [key: string]: unknown;
                }) | null;
                /** @description Has no effect. */
                verbosity?: ("low" | "medium" | "high") | null;
            } | null;
            /** @description Which tools the model may or must call. */
            tool_choice?: (("none" | "auto" | "required") | {
                /** @description Name of the function to call. */
                name: string;
                /** @constant */
                type: "function";
            } | {
                /** @constant */
                type: "file_search";
            } | {
                /** @description Refused: the server has no tool of another type. */
                type: string;
            }) | null;
            /** @description The client’s own functions, and `file_search` to configure the server’s search. The server’s other tools are always available. */
            tools?: ({
                /** @description What the function does, for the model. */
                description?: string | null;
                /** @description Name of the function. */
                name: string;
                /** @description JSON Schema of its arguments. */
                parameters?: {
                    [key: string]: unknown;
                } | null;
                /** @description Has no effect. */
                strict?: boolean | null;
                /** @constant */
                type: "function";
            } | {
                /** @description Filter on attributes, which are the metadata of documents. */
                filters?: ({
                    /** @description Name of the attribute. */
                    key: string;
                    /**
                     * @description How the attribute is compared.
                     * @enum {string}
                     */
                    type: "eq" | "in" | "gt" | "gte" | "lt" | "lte" | "ne" | "nin";
                    /** @description The value to compare with; a list for `in` and `nin`. */
                    value: (string | number | boolean) | (string | number | boolean)[];
                } | {
                    /** @description The filters to combine. */
                    filters: ({
                        /** @description Name of the attribute. */
                        key: string;
                        /**
                         * @description How the attribute is compared.
                         * @enum {string}
                         */
                        type: "eq" | "in" | "gt" | "gte" | "lt" | "lte" | "ne" | "nin";
                        /** @description The value to compare with; a list for `in` and `nin`. */
                        value: (string | number | boolean) | (string | number | boolean)[];
                    } | {
                        /** @description The filters to combine. */
                        filters: ({
                            /** @description Name of the attribute. */
                            key: string;
                            /**
                             * @description How the attribute is compared.
                             * @enum {string}
                             */
                            type: "eq" | "in" | "gt" | "gte" | "lt" | "lte" | "ne" | "nin";
                            /** @description The value to compare with; a list for `in` and `nin`. */
                            value: (string | number | boolean) | (string | number | boolean)[];
                        } | {
                            /** @description The filters to combine. */
                            filters: {
                                /** @description Name of the attribute. */
                                key: string;
                                /**
                                 * @description How the attribute is compared.
                                 * @enum {string}
                                 */
                                type: "eq" | "in" | "gt" | "gte" | "lt" | "lte" | "ne" | "nin";
                                /** @description The value to compare with; a list for `in` and `nin`. */
                                value: (string | number | boolean) | (string | number | boolean)[];
                            }[];
                            /**
                             * @description Whether all filters must match, or at least one.
                             * @enum {string}
                             */
                            type: "and" | "or";
                        })[];
                        /**
                         * @description Whether all filters must match, or at least one.
                         * @enum {string}
                         */
                        type: "and" | "or";
                    })[];
                    /**
                     * @description Whether all filters must match, or at least one.
                     * @enum {string}
                     */
                    type: "and" | "or";
                }) | null;
                /** @description Maximum number of passages. */
                max_num_results?: number | null;
                /** @description How passages are ranked. */
                ranking_options?: {
                    /** @description Has no effect; the server ranks in its own way. */
                    ranker?: ("auto" | "default-2024-11-15" | "none") | null;
                    /** @description Leaves out passages with a lower `score`, 0 to 1. */
                    score_threshold?: number | null;
                } | null;
                /** @constant */
                type: "file_search";
                /** @description The vector stores to search. */
                vector_store_ids: string[];
            } | ({
                /** @description Any other type: the tool is left out, and named in the header `warnings`. */
                type: string;
            } & {
                [key: string]: unknown;
            }))[] | null;
            /** @description Not supported: the server does not return token probabilities. */
            top_logprobs?: string | null;
            /** @description Passed to the model. */
            top_p?: number | null;
            /** @description Maximum number of context chunks to retrieve, up to 100; 0 retrieves none. Default: the server's TOP_K. */
            topK?: number | null;
            /** @description Has no effect: the history is always cut to fit the context window. */
            truncation?: ("auto" | "disabled") | null;
        };
        Restarting: {
            /** @description How long open streams have to finish. */
            graceSeconds: number;
            /**
             * Format: date-time
             * @description Start time of the server that is now shutting down.
             */
            startedAt: string;
        };
        /** @description Continues a chat that stopped for calls that wait for the client. */
        Resume: {
            /** @description One for each elicitation of the approved calls. */
            answers?: {
                /** @description The `callId` of the approved call. */
                callId: string;
                /** @description Values for the fields of `requestedSchema`. */
                content: {
                    [key: string]: unknown;
                };
                /** @description The `id` of the elicitation. */
                id: string;
            }[] | null;
            /** @description The `callId` of each approved call; all others are refused. */
            approved: string[];
            /** @description The `state` received with the pending calls. It works once. Send it with the `messages` of the original request. */
            state: string;
        };
        /** @description The documents were searched: for the question, before the model is asked, or by a tool call, before its result. Only with `includeSteps`. */
        RetrievedFrame: {
            /** @description Number of hits. */
            found: number;
            /** @description What was searched for. */
            query: string;
            /** @constant */
            type: "retrieved";
        };
        /** @description What led to an answer. Long texts are cut, with a note of how much is missing. */
        Run: {
            /** @description The answer in a stored conversation. */
            answerId?: string;
            /** @description The stored conversation, if the run belongs to one. */
            conversationId?: string;
            /** @description Why the run failed; absent if it did not. */
            error?: {
                code: components["schemas"]["ErrorCode"];
                /** @description What went wrong and how to fix it. */
                message: string;
            };
            /** @description Milliseconds until the first text. */
            firstDelta?: number;
            /** @description Identifier of the run. */
            id: string;
            /** @description Name and id of the key, unless it was the SERVER_API_KEY. */
            key?: string;
            /** @description Duration in milliseconds. */
            milliseconds: number;
            /** @description The calls of the model, in order. */
            modelCalls: components["schemas"]["RunModelCall"][];
            /** @description The finish reason, an error code, or `abandoned` if the client disconnected. */
            outcome: string;
            /** @description Who asked, as `user:<id>`, if it was a person. */
            person?: string;
            /** @description The user’s last message; shortened in lists. */
            question: string;
            /** @description The searches, in order. */
            searches: components["schemas"]["RunSearch"][];
            /**
             * Format: date-time
             * @description When the run began.
             */
            startedAt: string;
            /** @description The tool calls, in order. */
            toolCalls: components["schemas"]["RunToolCall"][];
            usage?: components["schemas"]["Usage"];
        };
        /** @description A run of the agent has ended. */
        RunEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description Prompt tokens served from the model’s cache, if the model reports them. */
            cachedTokens?: number;
            /** @description Prompt tokens written to the model’s cache, if the model reports them. */
            cacheWriteTokens?: number;
            /** @description Generated tokens, as reported by the model. */
            completionTokens?: number;
            /** @description Milliseconds until the first text. */
            firstDelta?: number;
            /** @description Increases with every event. */
            id: number;
            /** @description Duration in milliseconds. */
            milliseconds: number;
            /** @description The finish reason, an error code, or `abandoned` if the client disconnected. */
            outcome: string;
            /** @description Prompt tokens, as reported by the model. */
            promptTokens?: number;
            /** @description Generated tokens of the model’s thinking, if the model reports them. */
            reasoningTokens?: number;
            /** @description For `GET /admin/runs/{id}`; absent if no runs are kept. */
            runId?: string;
            /** @description How often each tool was called. */
            tools: {
                [key: string]: number;
            };
            /** @constant */
            type: "run";
        };
        RunList: {
            /** @description The runs, newest first. */
            runs: components["schemas"]["RunSummary"][];
        };
        RunMessage: {
            /** @description Tools that the model called. */
            calls?: {
                /** @description The arguments as the model wrote them, in JSON. */
                arguments: string;
                /** @description Name of the tool. */
                name: string;
            }[];
            /** @description Text of the message. */
            content: string;
            /** @description Number of images sent with it. */
            images?: number;
            /**
             * @description Who the message is from.
             * @enum {string}
             */
            role: "system" | "user" | "assistant" | "tool";
        };
        /** @description One call of the model, with the prompt as it was sent. */
        RunModelCall: {
            /** @description What the model wrote, before citations were checked. */
            answer?: string;
            /** @description Why the model stopped, in its provider’s words. */
            finishReason?: string;
            /** @description The other messages, as they were sent. */
            messages: components["schemas"]["RunMessage"][];
            /** @description Duration in milliseconds; absent if the call did not end. */
            milliseconds?: number;
            /** @description Number of messages at the beginning that are the same as in the previous call; they are left out here. */
            same: number;
            /** @description Names of the tools that the model was offered. */
            tools: string[];
            /** @description Tokens of this call; absent if the model does not report them. */
            usage?: {
                /** @description Prompt tokens served from the model’s cache, if the model reports them. */
                cachedTokens?: number;
                /** @description Prompt tokens written to the model’s cache, if the model reports them. */
                cacheWriteTokens?: number;
                /** @description Tokens that the model generated. */
                completionTokens: number;
                /** @description Tokens of the prompt. */
                promptTokens: number;
                /** @description Generated tokens of the model’s thinking, if the model reports them. */
                reasoningTokens?: number;
            };
        };
        /** @description A search for the question or by a tool: what was found, best first. */
        RunSearch: {
            /** @description The chunks that were found, best first. */
            hits: {
                /** @description Identifier of the document. */
                documentId: string;
                /** @description Headings above the chunk, outermost first, joined by ` > `. If the chunk begins in the middle of a table, the names of its columns are the last step. */
                heading?: string;
                /** @description Chunk identifier. */
                id: string;
                /** @description Relevance of the chunk to the query. From 0 to 1, comparable between questions of one `mode`. `lexical`: the share of the question’s words, stop words aside, that the chunk contains; a corrected word counts 0.7. `dense`: the cosine similarity of question and chunk, at least 0; how high it is for a good match depends on the embedding model. `hybrid`: 0.4 × the former + 0.6 × the latter. With a reranking model: the relevance that it gives; the chat model as a reranker gives an order only. Never lower than the score of the next hit. */
                score: number;
                /** @description The chunk’s score in each stage of the search. Only with `explain`. */
                stages?: {
                    /** @description Cosine similarity to the query after adjustment towards the best hits; absent if the query was not embedded. */
                    dense?: number;
                    /** @description BM25 score; absent if the chunk is not among the best keyword matches. */
                    lexical?: number;
                    /** @description Relevance according to the reranking model, 0 to 1. */
                    rerank?: number;
                };
                /** @description Chunk text. */
                text: string;
                /** @description Title of the document; empty if it has none. */
                title: string;
            }[];
            /** @description What was searched for. */
            query: string;
        };
        RunSummary: {
            /** @description The answer in a stored conversation. */
            answerId?: string;
            /** @description The stored conversation, if the run belongs to one. */
            conversationId?: string;
            /** @description Identifier of the run. */
            id: string;
            /** @description Name and id of the key, unless it was the SERVER_API_KEY. */
            key?: string;
            /** @description Duration in milliseconds. */
            milliseconds: number;
            /** @description The finish reason, an error code, or `abandoned` if the client disconnected. */
            outcome: string;
            /** @description Who asked, as `user:<id>`, if it was a person. */
            person?: string;
            /** @description The user’s last message; shortened in lists. */
            question: string;
            /**
             * Format: date-time
             * @description When the run began.
             */
            startedAt: string;
        };
        RunToolCall: {
            /** @description The arguments as the model wrote them. */
            input: string;
            /** @description Whether the call failed. */
            isError: boolean;
            /** @description Duration in milliseconds. */
            milliseconds: number;
            /** @description The result, as given to the model. */
            output: string;
            /** @description Name of the tool. */
            tool: string;
        };
        /** @description Metrics of the server over a short interval. */
        SampleEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description Documents that became `ready` or `failed`. */
            documents: number;
            /** @description Requests that failed with a status of 500 or higher, including streams that failed after they had begun. */
            failedRequests: number;
            /** @description Increases with every event. */
            id: number;
            /** @description Resident memory in bytes. */
            memory: number;
            /** @description Runs in progress at the end of the interval. */
            openRuns: number;
            /** @description Average number of busy processors. */
            processors: number;
            /** @description Mean duration of a request. */
            requestMilliseconds: number;
            /** @description Requests answered. */
            requests: number;
            /** @description Runs that ended. */
            runs: number;
            /** @description Searches made. */
            searches: number;
            /** @description Mean duration of a search. */
            searchMilliseconds: number;
            /** @description Length of the sampled interval. */
            seconds: number;
            /** @constant */
            type: "sample";
        };
        /** @description The sandbox in which code runs. */
        Sandbox: {
            /**
             * @description The configured kind of sandbox.
             * @enum {string}
             */
            kind: "embedded" | "bubblewrap" | "docker" | "e2b" | "none";
            /** @description Limits for code. */
            limits?: {
                /** @description Number of processors. */
                cpus: number;
                /** @description Total size of files in megabytes. */
                fileMegabytes: number;
                /** @description Memory in megabytes. */
                memoryMegabytes: number;
                /** @description Output that is kept, in kilobytes. */
                outputKilobytes: number;
                /** @description Number of processes and threads. */
                processes: number;
                /** @description Time limit of one run, in seconds. */
                seconds: number;
            };
            /** @description Why the sandbox is unavailable. */
            reason?: string;
            /**
             * @description `off`: disabled by configuration. `unavailable`: enabled but not working, see `reason`.
             * @enum {string}
             */
            state: "on" | "off" | "unavailable";
            /** @description The last verification since the server was started. */
            verified?: components["schemas"]["SandboxReport"];
        };
        SandboxProbe: {
            /** @description What is wrong. */
            message?: string;
            /** @description Duration in milliseconds. */
            milliseconds: number;
            /**
             * @description Name of the probe.
             * @enum {string}
             */
            name: "start" | "computation" | "files" | "environment" | "host-files" | "network" | "memory" | "total-memory" | "processes" | "cpus" | "file-space" | "output" | "time-out";
            /** @description Whether the sandbox passed. */
            ok: boolean;
            /** @description What the operator can do about it. */
            remedy?: string;
        };
        SandboxReport: {
            /**
             * @description The kind of sandbox that was verified.
             * @enum {string}
             */
            kind: "embedded" | "bubblewrap" | "docker" | "e2b" | "none";
            /** @description Duration of the verification in milliseconds. */
            milliseconds: number;
            /** @description Whether every probe is `ok`. */
            ok: boolean;
            /** @description One result per probe, in the order of the verification. */
            probes: components["schemas"]["SandboxProbe"][];
            /**
             * Format: date-time
             * @description When it was verified.
             */
            verifiedAt: string;
        };
        /** @description A step of a search with `effort` medium or high, or for several questions. */
        SearchStep: components["schemas"]["SearchStepPlan"] | components["schemas"]["SearchStepSearch"] | components["schemas"]["SearchStepJudge"] | components["schemas"]["SearchStepStop"];
        /** @description A step of the search before the answer. Only with `includeSteps`, and `effort` medium or high or several questions. */
        SearchStepFrame: {
            step: components["schemas"]["SearchStep"];
            /** @constant */
            type: "search-step";
        };
        SearchStepJudge: {
            /** @constant */
            action: "judge";
            /** @description What the model wants to search for next. */
            queries: string[];
            /** @description Whether the model considers the chunks sufficient. */
            sufficient: boolean;
        };
        SearchStepPlan: {
            /** @constant */
            action: "plan";
            /** @description What the model wants to search for. */
            queries: string[];
        };
        SearchStepSearch: {
            /** @constant */
            action: "search";
            /** @description Number of chunks that no earlier search found. */
            found: number;
            /** @description What was searched for. */
            query: string;
        };
        SearchStepStop: {
            /** @constant */
            action: "stop";
            /**
             * @description The bound that was reached; `model`: the chat model failed.
             * @enum {string}
             */
            reason: "rounds" | "searches" | "tokens" | "seconds" | "model";
        };
        ServerState: {
            /** @description Mistakes in the files on disk that would prevent the next start. */
            mistakes: {
                /** @description Mistakes in the agent configuration. */
                agent: components["schemas"]["Mistake"][];
                /** @description Mistakes in the settings. */
                settings: components["schemas"]["Mistake"][];
            };
            /**
             * @description SERVER_MODE. `agent`: all features. `knowledge`: documents, search and cited chat, without tools, skills, MCP and sandbox.
             * @enum {string}
             */
            mode: "agent" | "knowledge";
            /** @description Why the start failed. If the state is `running`: why the start with the saved settings failed; the previous ones are in use. */
            reason?: string;
            /** @description What a restart would change. */
            restart: {
                /** @description Fields of the agent configuration that a restart would change. */
                agent: string[];
                /** @description Whether a restart would change anything. */
                required: boolean;
                /** @description Variables that a restart would change. */
                settings: string[];
            };
            /**
             * Format: date-time
             * @description When this server was started; changes with each restart.
             */
            startedAt: string;
            /**
             * @description Unless the state is `running`, everything but the public paths and `/admin` returns 503 `not_launched`.
             * @enum {string}
             */
            state: "running" | "stopped" | "failed";
        };
        Setting: {
            /** @description The allowed values; absent if others are allowed. */
            choices?: string[];
            /** @description The default value; absent if there is none. */
            default?: string;
            /** @description The last four characters of a secret, if it is long enough. */
            ending?: string;
            /** @description The section of the Settings page. */
            group: string;
            /** @description The name shown in the web UI; for variables of the agent, the name of the variable. */
            label: string;
            /** @description What the variable does. */
            meaning: string;
            /** @description Name of the variable. */
            name: string;
            /** @description Whether the running server uses a different value. */
            restartRequired: boolean;
            /** @description Whether the value is a secret, which is never returned. */
            secret: boolean;
            /**
             * @description Where the value comes from. Values set by the environment cannot be changed here.
             * @enum {string}
             */
            source: "environment" | "file" | "default";
            /**
             * @description Unit of its number, if that is not obvious.
             * @enum {string}
             */
            unit?: "bytes" | "seconds" | "tokens";
            /** @description The current value; absent for secrets and for variables without a value. */
            value?: string;
        };
        /** @description The settings, as they will apply after a restart. */
        Settings: {
            /** @description SHA-256 hash of that file, in hexadecimal. */
            digest: string;
            /** @description Mistakes that would prevent the server from starting. */
            mistakes: components["schemas"]["Mistake"][];
            /** @description The file in which settings are saved. */
            path: string;
            /** @description All variables. */
            settings: components["schemas"]["Setting"][];
        };
        /**
         * @example {
         *       "basedOn": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
         *       "set": {
         *         "TOP_K": "8"
         *       },
         *       "clear": [
         *         "CORS_ORIGIN"
         *       ]
         *     }
         */
        SettingsPatch: {
            /** @description The `digest` of the version that these changes are based on. If the file has changed since, nothing is saved and the response is `edit_conflict`. */
            basedOn: string;
            /**
             * @description Variables to reset to their defaults.
             * @default []
             */
            clear?: string[] | null;
            /** @description Moves values from one variable to another and clears the first. Also works for secrets. */
            move?: {
                [key: string]: string;
            } | null;
            /** @description New values by variable name. Variables not listed keep their values. */
            set?: {
                [key: string]: string;
            } | null;
        };
        SettingsSaved: {
            /** @description The variables whose values have changed. */
            changed: string[];
            settings: components["schemas"]["Settings"];
        };
        /** @description The first line has the number of pages; then one line follows for each. */
        SiteLine: {
            /** @description Number of pages skipped because they are on other hosts or exceed `limit`. */
            left: number;
            /** @description Number of pages that follow. */
            pages: number;
        } | {
            /**
             * @description Identifier of the document.
             * @example doc_0198c5f28f2e7c1b
             */
            id: string;
            /** @description Page number, from 1. */
            page: number;
            status: components["schemas"]["DocumentStatus"];
            /** @description Whether the current content was already ingested. */
            unchanged: boolean;
            /** @description URL of the page. */
            url: string;
        } | {
            error: components["schemas"]["DocumentError"];
            /** @description Page number, from 1. */
            page: number;
            /** @description URL of the page. */
            url: string;
        };
        SkillList: {
            /** @description All configured skills. */
            skills: {
                /** @description What the skill is for, as the model is told. */
                description: string;
                /** @description Name of the skill. */
                name: string;
                /** @description Why the skill is unavailable. */
                reason?: string;
                /** @description The source in `agent.json` that it comes from. */
                source?: string;
                /**
                 * @description `off`: disabled by configuration. `unavailable`: enabled but not working, see `reason`.
                 * @enum {string}
                 */
                state: "on" | "off" | "unavailable";
                /** @description Deviations from the skill format that were tolerated. */
                warnings?: string[];
            }[];
        };
        /**
         * @example {
         *       "source": "https://example.org",
         *       "accept": false
         *     }
         */
        SkillReload: {
            /**
             * @description Accept the current content of remote sources even if it has changed since it was last accepted.
             * @default false
             */
            accept?: boolean | null;
            /** @description A source listed in `agent.json`. If absent, all sources are reloaded. */
            source?: string | null;
        };
        StorageUse: {
            /** @description The limit, in words. */
            bound: string;
            /** @description Size of the entries in the database, in bytes, with what belongs to them. Absent if the database is too large to be measured. */
            bytes?: number;
            /** @description Number of entries. */
            count: number;
            /** @description Maximum number of entries. Absent if the limit is not a single number. */
            most?: number;
            /** @description The kind of data, in words. */
            name: string;
            /** @description How long an entry is kept, in words. */
            retention: string;
            /**
             * @description What happens at the limit: the oldest entry is removed, or a new one is refused. Absent if neither happens.
             * @enum {string}
             */
            whenFull?: "oldest-removed" | "refused";
        };
        StorageUseList: {
            /** @description Each kind of data that grows in the database, with its size and limit. */
            storage: components["schemas"]["StorageUse"][];
        };
        /**
         * @example {
         *       "file_ids": [
         *         "handbook~guide-hours.md-9c41d7e2b60a4f18"
         *       ]
         *     }
         */
        SyncCleanup: {
            /** @description Has no effect: a directory disappears with its last document. */
            dir_ids?: string[] | null;
            /** @description Documents to delete. */
            file_ids: string[];
        };
        SyncDiff: {
            /** @description Files to upload. */
            added: {
                /** @description Name of the file. */
                filename: string;
                /** @description The directory of the file; empty at the top. */
                path: string;
            }[];
            /** @description Files that are no longer in the manifest. */
            deleted: {
                /** @description Identifier of the document, for `cleanup`. */
                file_id: string;
                /** @description Name of the file. */
                filename: string;
                /** @description The directory of the file; empty at the top. */
                path: string;
            }[];
            /** @description The id of each directory. */
            directory_map: {
                [key: string]: string;
            };
            /** @description Directories that have no document yet. */
            mkdir: string[];
            /** @description Files to upload again. */
            modified: {
                /** @description Name of the file. */
                filename: string;
                /** @description The directory of the file; empty at the top. */
                path: string;
                /** @description Has no effect in `cleanup`: the next upload replaces the file. */
                stale_file_id: string;
            }[];
            /** @description Directories that are no longer in the manifest. */
            rmdir: string[];
            /** @description Number of files that are up to date. */
            unmodified_count: number;
        };
        SyncDirectory: {
            /** @description Identifier of the directory. */
            id: string;
            /** @description Name of the directory. */
            name: string;
            /** @description The directory that it is in; null at the top. */
            parent_id: string | null;
        };
        SyncedFile: {
            /** @description Name of the file. */
            filename: string;
            /** @description Identifier of the document. */
            id: string;
            /** @description Facts about the file. */
            meta: {
                /** @description The checksum with which it was uploaded. */
                file_hash: string;
                /** @description Path and name in the source. */
                name: string;
                /** @description Size in bytes. */
                size: number;
            };
        };
        SyncedFiles: {
            /** @description The files; at most 50,000. */
            items: components["schemas"]["SyncedFile"][];
            /** @description Number of files. */
            total: number;
        };
        SyncError: {
            /** @description The message of the error. */
            detail: string;
            error: components["schemas"]["ErrorDetail"];
        };
        SyncKnowledgeBase: {
            /** @description Always empty. */
            description: string;
            /** @description The name of the collection. */
            id: string;
            /** @description The name of the collection. */
            name: string;
        };
        /**
         * @example {
         *       "manifest": [
         *         {
         *           "path": "guide",
         *           "filename": "hours.md",
         *           "checksum": "3f2a",
         *           "size": 120
         *         }
         *       ]
         *     }
         */
        SyncManifest: {
            /** @description Every file of the source. */
            manifest: {
                /** @description A value that changes whenever the file does. */
                checksum: string;
                /** @description Name of the file. */
                filename: string;
                /** @description The directory of the file; empty at the top. */
                path: string;
                /** @description Has no effect. */
                size?: number | null;
            }[];
        };
        SyncRemoved: {
            /** @description Documents deleted. */
            removed: number;
        };
        /**
         * @example {
         *       "metadata": "{\"knowledge_id\": \"handbook\", \"file_hash\": \"3f2a\"}",
         *       "file": "%PDF-1.7 …"
         *     }
         */
        SyncUpload: {
            /**
             * Format: binary
             * @description Content of the file, with its name. At most FILE_LIMIT.
             */
            file: string;
            /** @description JSON with `knowledge_id`, `file_hash` and `directory_id`, and `access` as in CreateDocument, which oikb itself does not send; sent before the file. */
            metadata: string;
        };
        SyncUploaded: {
            /** @description Name of the file. */
            filename: string;
            /** @description Identifier of the document. */
            id: string;
        };
        /** @description The answer, or the JSON object in each `data` line of its stream. */
        TextCompletion: {
            /** @description What led to the answer; in a stream, in the chunk with `finish_reason`. */
            agent?: components["schemas"]["AgentExtra"];
            /** @description One choice; none in the chunk with the usage. */
            choices: {
                /** @description Why the answer ended; null before the end. */
                finish_reason: ("stop" | "length" | "tool_calls" | "content_filter") | null;
                /** @description Always 0. */
                index: number;
                /** @description Always null. */
                logprobs: string | null;
                /** @description The answer or, in a stream, its next fragment. */
                text: string;
            }[];
            /** @description When it was created, in seconds since 1970. */
            created: number;
            /** @description Identifier of the completion. */
            id: string;
            /** @description Name of the agent. */
            model: string;
            /** @constant */
            object: "text_completion";
            /** @description Tokens of the run; absent if the model does not report them. In a stream, in a last chunk of its own, if `include_usage` asks for it. */
            usage?: components["schemas"]["CompletionUsage"];
        };
        /**
         * @example {
         *       "model": "agent",
         *       "prompt": "When does the library open?"
         *     }
         */
        TextCompletionRequest: {
            /** @description Only 1 is supported. */
            best_of?: 1 | null;
            citationCheck?: ("words" | "model") | null;
            /** @description Only documents in this collection, that is, with this name in the metadata field `collection`. `default` contains the documents without that field. If absent, all documents. */
            collection?: string | null;
            /** @description Identifies the conversation, so that state kept by tools, such as a sandbox, is available to the next request. Without it, no state is kept. */
            conversationId?: string | null;
            /** @description Only false is supported. */
            echo?: boolean | null;
            effort?: ("low" | "medium" | "high") | null;
            filter?: components["schemas"]["Filter"] | null;
            /** @description Passed to the model. */
            frequency_penalty?: number | null;
            /** @description Has no effect. */
            logit_bias?: {
                [key: string]: unknown;
            } | null;
            /** @description Not supported: the server does not return token probabilities. */
            logprobs?: string | null;
            /** @description Maximum number of tokens that the model may generate per call. */
            max_tokens?: number | null;
            /** @description Leaves out chunks with a lower `score`, 0 to 1: an answer may then have no hits. */
            minScore?: number | null;
            mode?: ("hybrid" | "lexical" | "dense") | null;
            /** @description The agent, `<agent>:<collection>`, or `<agent>-plain` for the model without documents and tools. Any other name also selects the agent. */
            model?: string | null;
            /** @description Number of answers; only 1 is supported. */
            n?: 1 | null;
            /** @description Passed to the model. */
            presence_penalty?: number | null;
            /** @description The question; a list may have one text. */
            prompt: string | string[];
            resume?: components["schemas"]["Resume"] | null;
            /**
             * @description Whether a follow-up that cannot be understood alone is rewritten before the search. The chat model rewrites it as a standalone question in a separate call, which counts towards the usage; without a generating model, it is searched for together with the previous questions.
             * @default true
             */
            rewrite?: boolean | null;
            /** @description Passed to the model. */
            seed?: number | null;
            /** @description Texts at which the model stops. */
            stop?: (string | string[]) | null;
            /** @description Whether to stream chunks. Default: false. */
            stream?: boolean | null;
            /** @description Options of the stream. */
            stream_options?: {
                /** @description Whether the last chunk has the usage. */
                include_usage?: boolean | null;
            } | null;
            /** @description Only an empty one is supported. */
            suffix?: "" | null;
            /** @description Passed to the model. */
            temperature?: number | null;
            /** @description Passed to the model. */
            top_p?: number | null;
            /** @description Maximum number of context chunks to retrieve, up to 100; 0 retrieves none. Default: the server's TOP_K. */
            topK?: number | null;
        };
        /** @description The next fragment of the answer. */
        TextDeltaFrame: {
            /** @description The fragment. */
            text: string;
            /** @constant */
            type: "text-delta";
        };
        Tool: {
            /**
             * @description Each call needs the client’s approval: see `approval-required` in `ChatFrame`.
             * @constant
             */
            approval?: "always";
            /** @description What the tool does, as the model is told. */
            description: string;
            /** @description JSON Schema of its arguments. */
            inputSchema: {
                [key: string]: unknown;
            };
            /** @description Name of the tool, as the model sees it. */
            name: string;
            /** @description Why the tool is off or unavailable. */
            reason?: string;
            /** @description `builtin`, `mcp:<connection>`, `skill` or `plugin:<name>`. */
            source: string;
            /**
             * @description `off`: disabled by configuration. `unavailable`: enabled but not working, see `reason`.
             * @enum {string}
             */
            state: "on" | "off" | "unavailable";
            /** @description The name under `tools` in `agent.json` that enables or disables this built-in tool. */
            switch?: string;
            /** @description Display name of the tool. */
            title: string;
        };
        /** @description A tool call. Only with `includeSteps`. */
        ToolCallFrame: {
            /** @description Identifies the call. */
            callId: string;
            /** @description Arguments of the call. */
            input: unknown;
            /** @description Name of the tool. */
            tool: string;
            /** @constant */
            type: "tool-call";
        };
        ToolList: {
            /** @description All tools, whatever their state. */
            tools: components["schemas"]["Tool"][];
        };
        /** @description How far the call of an MCP server’s tool is, as that server says; at most every half a second. Only with `includeSteps`. */
        ToolProgressFrame: {
            /** @description Identifies the call. */
            callId: string;
            /** @description What its server does, in its own words. */
            message?: string;
            /** @description How far the call is, in units of its server. */
            progress: number;
            /** @description Name of the tool. */
            tool: string;
            /** @description The value of `progress` at which the call is done. */
            total?: number;
            /** @constant */
            type: "tool-progress";
        };
        /** @description The result of a tool call. Only with `includeSteps`. */
        ToolResultFrame: {
            /** @description Identifies the call. */
            callId: string;
            /** @description Whether the call failed. */
            isError: boolean;
            /** @description The result, as given to the model. */
            output: string;
            /** @description Name of the tool. */
            tool: string;
            /** @constant */
            type: "tool-result";
        };
        /** @description The question is stored. Always the first frame with `conversation`, and never sent without it. */
        TurnStartFrame: {
            /** @description The item that will hold the answer. */
            answerId: string;
            /** @description The stored conversation. */
            conversationId: string;
            /** @description The item that holds the question. */
            questionId: string;
            /** @constant */
            type: "turn-start";
        };
        UrlCitation: {
            /** @constant */
            type: "url_citation";
            /** @description The cited document. */
            url_citation: {
                /** @description End offset (exclusive). */
                end_index: number;
                /** @description Start offset of the citation in the answer, in UTF-16 code units. */
                start_index: number;
                /** @description Title of the document. */
                title: string;
                /** @description URL of the document. */
                url: string;
            };
        };
        /** @description Total tokens of all calls of the chat model. */
        Usage: {
            /** @description Prompt tokens served from the model’s cache, if the model reports them. */
            cachedTokens?: number;
            /** @description Prompt tokens written to the model’s cache, if the model reports them. */
            cacheWriteTokens?: number;
            /** @description Tokens that the model generated. */
            completionTokens: number;
            /** @description Tokens of the prompts. */
            promptTokens: number;
            /** @description Generated tokens of the model’s thinking, if the model reports them. */
            reasoningTokens?: number;
            /** @description The sum of both. */
            totalTokens: number;
        };
        UsageLeft: {
            /** @description What is left for today, less what answers may use. */
            costLeft?: number;
            /** @description Limit on what model calls cost per UTC day across all servers, by the `prices` in `agent.json`. The last call may exceed it; models without a price cost nothing. */
            costPerDay?: number;
            /** @description Which one. */
            id: string;
            /**
             * @description Whose limit it is; a group’s is shared.
             * @enum {string}
             */
            of: "person" | "group" | "key";
            /** @description What is left for today, less what answers may use. */
            tokensLeft?: number;
            /** @description Limit on model tokens, sent and received, per UTC day across all servers. The last call of a model may exceed it. */
            tokensPerDay?: number;
        };
        UsageReport: {
            /** @description The currency of the prices in `agent.json`. */
            currency: string;
            /** @description Whether there are more rows than `limit`. */
            hasMore: boolean;
            /** @description The latest day first, then what took the most tokens. */
            rows: components["schemas"]["UsageRow"][];
            /** @description Of all rows, each call counted once. */
            total: {
                /** @description Of these, what the model’s server took from its cache. */
                cachedTokens: number;
                /** @description Calls of models. */
                calls: number;
                /** @description What they cost, in `currency`; absent if none of the models had a price. */
                cost?: number;
                /** @description Tokens sent. */
                inputTokens: number;
                /** @description Tokens received. */
                outputTokens: number;
                /** @description Calls that `cost` leaves out, since their model had no price; absent if there are none. */
                unpricedCalls?: number;
            };
        };
        /** @description Of what the report is by, each row has the values. */
        UsageRow: {
            /** @description Absent for work outside of an agent. */
            agent?: string;
            /** @description Of these, what the model’s server took from its cache. */
            cachedTokens: number;
            /** @description Calls of models. */
            calls: number;
            /** @description What they cost, in `currency`; absent if none of the models had a price. */
            cost?: number;
            /**
             * Format: date
             * @description A day in UTC.
             */
            day?: string;
            /** @description Absent for who is in none. */
            group?: string;
            /** @description Tokens sent. */
            inputTokens: number;
            /** @description The id of the key; absent if none was used. */
            key?: string;
            /** @description Absent once the key is revoked. */
            keyName?: string;
            /** @description As in `CHAT_MODEL`. */
            model?: string;
            /** @description Tokens received. */
            outputTokens: number;
            /** @description The person; `removed` for all who were removed. Absent for keys and the server. */
            person?: string;
            /** @description As the issuer has told it. */
            personName?: string;
            /** @description Calls that `cost` leaves out, since their model had no price; absent if there are none. */
            unpricedCalls?: number;
        };
        VectorStore: {
            /** @description When the oldest document was created; the current time if there is none. */
            created_at: number;
            /** @description Number of files by status. */
            file_counts: {
                /** @description Always 0. */
                cancelled: number;
                /** @description Files that are searchable. */
                completed: number;
                /** @description Files whose ingestion failed. */
                failed: number;
                /** @description Files waiting for ingestion, or being ingested. */
                in_progress: number;
                /** @description All files. */
                total: number;
            };
            /** @description Identifier of the vector store. */
            id: string;
            /** @description Always null. */
            last_active_at: string | null;
            /** @description Always empty: a store has no metadata of its own. */
            metadata: Record<string, never>;
            /** @description Name of the store: that of its collection, until it is given another. */
            name: string;
            /** @constant */
            object: "vector_store";
            /**
             * @description `in_progress` while files are being ingested.
             * @enum {string}
             */
            status: "in_progress" | "completed";
            /** @description Not known; always 0. */
            usage_bytes: number;
        };
        VectorStoreFile: {
            attributes: components["schemas"]["Metadata"];
            /** @description When the document was created, in seconds since 1970. */
            created_at: number;
            /** @description Identifier of the document. */
            id: string;
            /** @description Why ingestion failed; null if it did not. */
            last_error: {
                /** @description Stable code of the cause. */
                code: string;
                /** @description What failed and how to fix it. */
                message: string;
            } | null;
            /** @constant */
            object: "vector_store.file";
            /**
             * @description `completed`: the file is searchable.
             * @enum {string}
             */
            status: "in_progress" | "completed" | "failed";
            /** @description Size of the file in bytes, or length of the text if there is no file. */
            usage_bytes: number;
            /** @description Identifier of the vector store. */
            vector_store_id: string;
        };
        VectorStoreFileContent: {
            /** @description The text of the document. */
            data: {
                /** @description Text of this page. */
                text: string;
                /** @constant */
                type: "text";
            }[];
            /** @description Whether there is more text. */
            has_more: boolean;
            /** @description Send as `page` to get the rest of a long text. */
            next_page: string | null;
            /** @constant */
            object: "vector_store.file_content.page";
        };
        VectorStoreFileList: {
            /** @description The items of this page. */
            data: components["schemas"]["VectorStoreFile"][];
            /** @description The first item of this page; null if it is empty. */
            first_id: string | null;
            /** @description Whether there is another page. */
            has_more: boolean;
            /** @description The last item of this page; send it as `after` to get the next page. */
            last_id: string | null;
            /** @constant */
            object: "list";
        };
        /**
         * @example {
         *       "attributes": {
         *         "year": 2026
         *       }
         *     }
         */
        VectorStoreFileUpdate: {
            /** @description Added to the metadata of the document; existing fields of the same names are replaced. */
            attributes: components["schemas"]["Metadata"];
        };
        VectorStoreList: {
            /** @description The items of this page. */
            data: components["schemas"]["VectorStore"][];
            /** @description The first item of this page; null if it is empty. */
            first_id: string | null;
            /** @description Whether there is another page. */
            has_more: boolean;
            /** @description The last item of this page; send it as `after` to get the next page. */
            last_id: string | null;
            /** @constant */
            object: "list";
        };
        /**
         * @example {
         *       "query": "When does the library open?"
         *     }
         */
        VectorStoreSearch: {
            /** @description Filter on attributes, which are the metadata of documents. */
            filters?: ({
                /** @description Name of the attribute. */
                key: string;
                /**
                 * @description How the attribute is compared.
                 * @enum {string}
                 */
                type: "eq" | "in" | "gt" | "gte" | "lt" | "lte" | "ne" | "nin";
                /** @description The value to compare with; a list for `in` and `nin`. */
                value: (string | number | boolean) | (string | number | boolean)[];
            } | {
                /** @description The filters to combine. */
                filters: ({
                    /** @description Name of the attribute. */
                    key: string;
                    /**
                     * @description How the attribute is compared.
                     * @enum {string}
                     */
                    type: "eq" | "in" | "gt" | "gte" | "lt" | "lte" | "ne" | "nin";
                    /** @description The value to compare with; a list for `in` and `nin`. */
                    value: (string | number | boolean) | (string | number | boolean)[];
                } | {
                    /** @description The filters to combine. */
                    filters: ({
                        /** @description Name of the attribute. */
                        key: string;
                        /**
                         * @description How the attribute is compared.
                         * @enum {string}
                         */
                        type: "eq" | "in" | "gt" | "gte" | "lt" | "lte" | "ne" | "nin";
                        /** @description The value to compare with; a list for `in` and `nin`. */
                        value: (string | number | boolean) | (string | number | boolean)[];
                    } | {
                        /** @description The filters to combine. */
                        filters: {
                            /** @description Name of the attribute. */
                            key: string;
                            /**
                             * @description How the attribute is compared.
                             * @enum {string}
                             */
                            type: "eq" | "in" | "gt" | "gte" | "lt" | "lte" | "ne" | "nin";
                            /** @description The value to compare with; a list for `in` and `nin`. */
                            value: (string | number | boolean) | (string | number | boolean)[];
                        }[];
                        /**
                         * @description Whether all filters must match, or at least one.
                         * @enum {string}
                         */
                        type: "and" | "or";
                    })[];
                    /**
                     * @description Whether all filters must match, or at least one.
                     * @enum {string}
                     */
                    type: "and" | "or";
                })[];
                /**
                 * @description Whether all filters must match, or at least one.
                 * @enum {string}
                 */
                type: "and" | "or";
            }) | null;
            /**
             * @description Maximum number of passages.
             * @default 10
             */
            max_num_results?: number | null;
            /** @description The question or text to search for. */
            query: string | string[];
            /** @description How passages are ranked. */
            ranking_options?: {
                /** @description Has no effect; the server ranks in its own way. */
                ranker?: ("auto" | "default-2024-11-15" | "none") | null;
                /** @description Leaves out passages with a lower `score`, 0 to 1. */
                score_threshold?: number | null;
            } | null;
            /** @description Only false is supported: the query is used unchanged. */
            rewrite_query?: boolean | null;
        };
        VectorStoreSearchResults: {
            /** @description The passages, best first. */
            data: {
                attributes: components["schemas"]["Metadata"];
                /** @description The passage: always one part. */
                content: {
                    /** @description Text of the passage. */
                    text: string;
                    /** @constant */
                    type: "text";
                }[];
                /** @description End offset of the passage (exclusive). */
                end: number;
                /** @description Identifier of the document. */
                file_id: string;
                /** @description Title of the document, or its id. */
                filename: string;
                /** @description Relevance of the chunk to the query. From 0 to 1, comparable between questions of one `mode`. `lexical`: the share of the question’s words, stop words aside, that the chunk contains; a corrected word counts 0.7. `dense`: the cosine similarity of question and chunk, at least 0; how high it is for a good match depends on the embedding model. `hybrid`: 0.4 × the former + 0.6 × the latter. With a reranking model: the relevance that it gives; the chat model as a reranker gives an order only. Never lower than the score of the next hit. */
                score: number;
                /** @description Start offset of the passage in the document. */
                start: number;
            }[];
            /** @description Always false. */
            has_more: boolean;
            /** @description Always null. */
            next_page: string | null;
            /** @constant */
            object: "vector_store.search_results.page";
            /** @description The query, unchanged. */
            search_query: string[];
        };
        /**
         * @example {
         *       "name": "handbook-2026"
         *     }
         */
        VectorStoreUpdate: {
            /** @description Not supported: documents are kept until they are deleted. */
            expires_after?: string | null;
            /** @description Must be empty: a store has no metadata of its own. */
            metadata?: Record<string, never> | null;
            /** @description A name for people; if it can be that of a collection, a new store is that collection. */
            name?: string | null;
        };
        WatchedFolder: {
            /** @description Who may read its documents, if WATCH_FOLDERS says so; otherwise whoever may read their collection. */
            access?: string[];
            /** @description The collection that its documents are put into. */
            collection?: string;
            /** @description Files found by the last scan. */
            files: number;
            /**
             * Format: date-time
             * @description When all files were last scanned.
             */
            lookedAt?: string;
            /** @description New, changed and deleted files that have not been processed yet. */
            open: number;
            /** @description Path of the folder, as in WATCH_FOLDERS. */
            path: string;
            /** @description Why nothing is added or deleted, and how to fix it. */
            problem?: string;
            /** @description Files without a current document, and why; at most 20 of them. */
            refused: {
                /** @description Path of the file within the folder. */
                path: string;
                /** @description Why it has no current document. */
                reason: string;
            }[];
            /** @description Total number of such files. */
            refusedCount: number;
            /**
             * @description `waiting`: many documents are queued, so no more are added for now. `elsewhere`: another server follows this folder. `failed`: nothing is added or deleted, see `problem`.
             * @enum {string}
             */
            state: "starting" | "following" | "waiting" | "elsewhere" | "failed";
        };
        WatchedFolders: {
            /** @description The folders of WATCH_FOLDERS. */
            folders: components["schemas"]["WatchedFolder"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type ActivityEvent = components['schemas']['ActivityEvent'];
export type ActivityFrame = components['schemas']['ActivityFrame'];
export type Agent = components['schemas']['Agent'];
export type AgentCheck = components['schemas']['AgentCheck'];
export type AgentExtra = components['schemas']['AgentExtra'];
export type AgentFile = components['schemas']['AgentFile'];
export type AgentQuestion = components['schemas']['AgentQuestion'];
export type AgentResponse = components['schemas']['AgentResponse'];
export type AgentRestore = components['schemas']['AgentRestore'];
export type AgentSave = components['schemas']['AgentSave'];
export type AgentSaved = components['schemas']['AgentSaved'];
export type AgentText = components['schemas']['AgentText'];
export type AgentVersion = components['schemas']['AgentVersion'];
export type AgentVersions = components['schemas']['AgentVersions'];
export type AnswerStep = components['schemas']['AnswerStep'];
export type AnthropicCitation = components['schemas']['AnthropicCitation'];
export type AnthropicCitationCharLocation = components['schemas']['AnthropicCitationCharLocation'];
export type AnthropicCitationWebSearchResultLocation = components['schemas']['AnthropicCitationWebSearchResultLocation'];
export type AnthropicContentBlock = components['schemas']['AnthropicContentBlock'];
export type AnthropicContentBlockRedactedThinking = components['schemas']['AnthropicContentBlockRedactedThinking'];
export type AnthropicContentBlockText = components['schemas']['AnthropicContentBlockText'];
export type AnthropicContentBlockThinking = components['schemas']['AnthropicContentBlockThinking'];
export type AnthropicContentBlockToolUse = components['schemas']['AnthropicContentBlockToolUse'];
export type AnthropicCountRequest = components['schemas']['AnthropicCountRequest'];
export type AnthropicDocumentBlock = components['schemas']['AnthropicDocumentBlock'];
export type AnthropicError = components['schemas']['AnthropicError'];
export type AnthropicEvent = components['schemas']['AnthropicEvent'];
export type AnthropicEventContentBlockDelta = components['schemas']['AnthropicEventContentBlockDelta'];
export type AnthropicEventContentBlockStart = components['schemas']['AnthropicEventContentBlockStart'];
export type AnthropicEventContentBlockStop = components['schemas']['AnthropicEventContentBlockStop'];
export type AnthropicEventMessageDelta = components['schemas']['AnthropicEventMessageDelta'];
export type AnthropicEventMessageStart = components['schemas']['AnthropicEventMessageStart'];
export type AnthropicEventMessageStop = components['schemas']['AnthropicEventMessageStop'];
export type AnthropicImageBlock = components['schemas']['AnthropicImageBlock'];
export type AnthropicMessage = components['schemas']['AnthropicMessage'];
export type AnthropicRedactedThinkingBlock = components['schemas']['AnthropicRedactedThinkingBlock'];
export type AnthropicRequest = components['schemas']['AnthropicRequest'];
export type AnthropicSearchResultBlock = components['schemas']['AnthropicSearchResultBlock'];
export type AnthropicTextBlock = components['schemas']['AnthropicTextBlock'];
export type AnthropicTokenCount = components['schemas']['AnthropicTokenCount'];
export type AnthropicToolResultBlock = components['schemas']['AnthropicToolResultBlock'];
export type AnthropicToolUseBlock = components['schemas']['AnthropicToolUseBlock'];
export type AnthropicUsage = components['schemas']['AnthropicUsage'];
export type ApiKey = components['schemas']['ApiKey'];
export type ApiKeyCreated = components['schemas']['ApiKeyCreated'];
export type ApiKeyList = components['schemas']['ApiKeyList'];
export type Approval = components['schemas']['Approval'];
export type ApprovalRequiredFrame = components['schemas']['ApprovalRequiredFrame'];
export type Artifact = components['schemas']['Artifact'];
export type AuditEntry = components['schemas']['AuditEntry'];
export type AuditPage = components['schemas']['AuditPage'];
export type BatchFailure = components['schemas']['BatchFailure'];
export type Capabilities = components['schemas']['Capabilities'];
export type ChatFrame = components['schemas']['ChatFrame'];
export type ChatMessage = components['schemas']['ChatMessage'];
export type ChatRequest = components['schemas']['ChatRequest'];
export type Chunk = components['schemas']['Chunk'];
export type ChunkList = components['schemas']['ChunkList'];
export type Citation = components['schemas']['Citation'];
export type CitationsFrame = components['schemas']['CitationsFrame'];
export type Collection = components['schemas']['Collection'];
export type CollectionList = components['schemas']['CollectionList'];
export type CollectionPatch = components['schemas']['CollectionPatch'];
export type Completion = components['schemas']['Completion'];
export type CompletionChunk = components['schemas']['CompletionChunk'];
export type CompletionMessage = components['schemas']['CompletionMessage'];
export type CompletionMessageAssistant = components['schemas']['CompletionMessageAssistant'];
export type CompletionMessageSystem = components['schemas']['CompletionMessageSystem'];
export type CompletionMessageTool = components['schemas']['CompletionMessageTool'];
export type CompletionMessageUser = components['schemas']['CompletionMessageUser'];
export type CompletionRequest = components['schemas']['CompletionRequest'];
export type CompletionUsage = components['schemas']['CompletionUsage'];
export type Conversation = components['schemas']['Conversation'];
export type ConversationDeleted = components['schemas']['ConversationDeleted'];
export type ConversationItem = components['schemas']['ConversationItem'];
export type ConversationItemList = components['schemas']['ConversationItemList'];
export type ConversationList = components['schemas']['ConversationList'];
export type ConversationPatch = components['schemas']['ConversationPatch'];
export type Correction = components['schemas']['Correction'];
export type CreateApiKey = components['schemas']['CreateApiKey'];
export type CreateCollection = components['schemas']['CreateCollection'];
export type CreateConversation = components['schemas']['CreateConversation'];
export type CreateConversationItems = components['schemas']['CreateConversationItems'];
export type CreateDocument = components['schemas']['CreateDocument'];
export type CreateDocumentFile = components['schemas']['CreateDocumentFile'];
export type CreateDocumentItem = components['schemas']['CreateDocumentItem'];
export type CreateDocuments = components['schemas']['CreateDocuments'];
export type CreateEvaluationRun = components['schemas']['CreateEvaluationRun'];
export type CreateFeedback = components['schemas']['CreateFeedback'];
export type CreateFile = components['schemas']['CreateFile'];
export type CreateFileBatch = components['schemas']['CreateFileBatch'];
export type CreateJudgedLine = components['schemas']['CreateJudgedLine'];
export type CreateJudgedQuestion = components['schemas']['CreateJudgedQuestion'];
export type CreateSite = components['schemas']['CreateSite'];
export type CreateSyncDirectory = components['schemas']['CreateSyncDirectory'];
export type CreateVectorStore = components['schemas']['CreateVectorStore'];
export type CreateVectorStoreFile = components['schemas']['CreateVectorStoreFile'];
export type Deletion = components['schemas']['Deletion'];
export type Deployment = components['schemas']['Deployment'];
export type DeploymentRequest = components['schemas']['DeploymentRequest'];
export type DeploymentTargets = components['schemas']['DeploymentTargets'];
export type Document = components['schemas']['Document'];
export type DocumentBatchResult = components['schemas']['DocumentBatchResult'];
export type DocumentCreated = components['schemas']['DocumentCreated'];
export type DocumentError = components['schemas']['DocumentError'];
export type DocumentFile = components['schemas']['DocumentFile'];
export type DocumentList = components['schemas']['DocumentList'];
export type DocumentPatch = components['schemas']['DocumentPatch'];
export type DocumentSort = components['schemas']['DocumentSort'];
export type DocumentSource = components['schemas']['DocumentSource'];
export type DocumentStatus = components['schemas']['DocumentStatus'];
export type DocumentWarning = components['schemas']['DocumentWarning'];
export type DoneFrame = components['schemas']['DoneFrame'];
export type DraftFrame = components['schemas']['DraftFrame'];
export type Elicitation = components['schemas']['Elicitation'];
export type Embeddings = components['schemas']['Embeddings'];
export type EmbeddingsRequest = components['schemas']['EmbeddingsRequest'];
export type Error = components['schemas']['Error'];
export type ErrorCode = components['schemas']['ErrorCode'];
export type ErrorDetail = components['schemas']['ErrorDetail'];
export type ErrorFrame = components['schemas']['ErrorFrame'];
export type EvaluationComparison = components['schemas']['EvaluationComparison'];
export type EvaluationReport = components['schemas']['EvaluationReport'];
export type EvaluationRun = components['schemas']['EvaluationRun'];
export type EvaluationRunList = components['schemas']['EvaluationRunList'];
export type Feedback = components['schemas']['Feedback'];
export type FeedbackList = components['schemas']['FeedbackList'];
export type FieldCondition = components['schemas']['FieldCondition'];
export type FileBatch = components['schemas']['FileBatch'];
export type FileCitation = components['schemas']['FileCitation'];
export type FileList = components['schemas']['FileList'];
export type FileObject = components['schemas']['FileObject'];
export type Filter = components['schemas']['Filter'];
export type FilterLevel2 = components['schemas']['FilterLevel2'];
export type FilterLevel3 = components['schemas']['FilterLevel3'];
export type FilterLevel4 = components['schemas']['FilterLevel4'];
export type Health = components['schemas']['Health'];
export type Hit = components['schemas']['Hit'];
export type InputItemList = components['schemas']['InputItemList'];
export type InputTokens = components['schemas']['InputTokens'];
export type JudgedImport = components['schemas']['JudgedImport'];
export type JudgedQuestion = components['schemas']['JudgedQuestion'];
export type JudgedQuestionList = components['schemas']['JudgedQuestionList'];
export type KnownPerson = components['schemas']['KnownPerson'];
export type LineRefused = components['schemas']['LineRefused'];
export type LineResult = components['schemas']['LineResult'];
export type LineStored = components['schemas']['LineStored'];
export type LocalModelServers = components['schemas']['LocalModelServers'];
export type LogEvent = components['schemas']['LogEvent'];
export type McpAccountList = components['schemas']['McpAccountList'];
export type McpAccountStart = components['schemas']['McpAccountStart'];
export type McpAnswer = components['schemas']['McpAnswer'];
export type McpMessage = components['schemas']['McpMessage'];
export type McpTestRequest = components['schemas']['McpTestRequest'];
export type McpTestResult = components['schemas']['McpTestResult'];
export type Metadata = components['schemas']['Metadata'];
export type Mistake = components['schemas']['Mistake'];
export type Model = components['schemas']['Model'];
export type ModelList = components['schemas']['ModelList'];
export type ModelTest = components['schemas']['ModelTest'];
export type ModelTestRequest = components['schemas']['ModelTestRequest'];
export type OllamaAnswerSchema = components['schemas']['OllamaAnswerSchema'];
export type OllamaChatAnswer = components['schemas']['OllamaChatAnswer'];
export type OllamaChatRequest = components['schemas']['OllamaChatRequest'];
export type OllamaEmbedding = components['schemas']['OllamaEmbedding'];
export type OllamaEmbeddingRequest = components['schemas']['OllamaEmbeddingRequest'];
export type OllamaEmbeddings = components['schemas']['OllamaEmbeddings'];
export type OllamaEmbedRequest = components['schemas']['OllamaEmbedRequest'];
export type OllamaError = components['schemas']['OllamaError'];
export type OllamaGenerateAnswer = components['schemas']['OllamaGenerateAnswer'];
export type OllamaGenerateRequest = components['schemas']['OllamaGenerateRequest'];
export type OllamaModelInfo = components['schemas']['OllamaModelInfo'];
export type OllamaModels = components['schemas']['OllamaModels'];
export type OllamaShowRequest = components['schemas']['OllamaShowRequest'];
export type OllamaVersion = components['schemas']['OllamaVersion'];
export type OwnUsage = components['schemas']['OwnUsage'];
export type PeopleList = components['schemas']['PeopleList'];
export type PersonChange = components['schemas']['PersonChange'];
export type PersonRemoved = components['schemas']['PersonRemoved'];
export type ProgressFrame = components['schemas']['ProgressFrame'];
export type ProviderModels = components['schemas']['ProviderModels'];
export type QueryRequest = components['schemas']['QueryRequest'];
export type QueryResult = components['schemas']['QueryResult'];
export type Rating = components['schemas']['Rating'];
export type Readiness = components['schemas']['Readiness'];
export type ReasoningDeltaFrame = components['schemas']['ReasoningDeltaFrame'];
export type RelevantDocument = components['schemas']['RelevantDocument'];
export type Removed = components['schemas']['Removed'];
export type RequestEvent = components['schemas']['RequestEvent'];
export type ResponseDeleted = components['schemas']['ResponseDeleted'];
export type ResponseEvent = components['schemas']['ResponseEvent'];
export type ResponseInputItem = components['schemas']['ResponseInputItem'];
export type ResponseInputItemAdditionalTools = components['schemas']['ResponseInputItemAdditionalTools'];
export type ResponseInputItemCustomToolCall = components['schemas']['ResponseInputItemCustomToolCall'];
export type ResponseInputItemCustomToolCallOutput = components['schemas']['ResponseInputItemCustomToolCallOutput'];
export type ResponseInputItemFileSearchCall = components['schemas']['ResponseInputItemFileSearchCall'];
export type ResponseInputItemFunctionCall = components['schemas']['ResponseInputItemFunctionCall'];
export type ResponseInputItemFunctionCallOutput = components['schemas']['ResponseInputItemFunctionCallOutput'];
export type ResponseInputItemItemReference = components['schemas']['ResponseInputItemItemReference'];
export type ResponseInputItemMessage = components['schemas']['ResponseInputItemMessage'];
export type ResponseInputItemReasoning = components['schemas']['ResponseInputItemReasoning'];
export type ResponseOutputItem = components['schemas']['ResponseOutputItem'];
export type ResponseOutputItemFileSearchCall = components['schemas']['ResponseOutputItemFileSearchCall'];
export type ResponseOutputItemFunctionCall = components['schemas']['ResponseOutputItemFunctionCall'];
export type ResponseOutputItemMessage = components['schemas']['ResponseOutputItemMessage'];
export type ResponseOutputItemReasoning = components['schemas']['ResponseOutputItemReasoning'];
export type ResponseRequest = components['schemas']['ResponseRequest'];
export type Restarting = components['schemas']['Restarting'];
export type Resume = components['schemas']['Resume'];
export type RetrievedFrame = components['schemas']['RetrievedFrame'];
export type Run = components['schemas']['Run'];
export type RunEvent = components['schemas']['RunEvent'];
export type RunList = components['schemas']['RunList'];
export type RunMessage = components['schemas']['RunMessage'];
export type RunModelCall = components['schemas']['RunModelCall'];
export type RunSearch = components['schemas']['RunSearch'];
export type RunSummary = components['schemas']['RunSummary'];
export type RunToolCall = components['schemas']['RunToolCall'];
export type SampleEvent = components['schemas']['SampleEvent'];
export type Sandbox = components['schemas']['Sandbox'];
export type SandboxProbe = components['schemas']['SandboxProbe'];
export type SandboxReport = components['schemas']['SandboxReport'];
export type SearchStep = components['schemas']['SearchStep'];
export type SearchStepFrame = components['schemas']['SearchStepFrame'];
export type SearchStepJudge = components['schemas']['SearchStepJudge'];
export type SearchStepPlan = components['schemas']['SearchStepPlan'];
export type SearchStepSearch = components['schemas']['SearchStepSearch'];
export type SearchStepStop = components['schemas']['SearchStepStop'];
export type ServerState = components['schemas']['ServerState'];
export type Setting = components['schemas']['Setting'];
export type Settings = components['schemas']['Settings'];
export type SettingsPatch = components['schemas']['SettingsPatch'];
export type SettingsSaved = components['schemas']['SettingsSaved'];
export type SiteLine = components['schemas']['SiteLine'];
export type SkillList = components['schemas']['SkillList'];
export type SkillReload = components['schemas']['SkillReload'];
export type StorageUse = components['schemas']['StorageUse'];
export type StorageUseList = components['schemas']['StorageUseList'];
export type SyncCleanup = components['schemas']['SyncCleanup'];
export type SyncDiff = components['schemas']['SyncDiff'];
export type SyncDirectory = components['schemas']['SyncDirectory'];
export type SyncedFile = components['schemas']['SyncedFile'];
export type SyncedFiles = components['schemas']['SyncedFiles'];
export type SyncError = components['schemas']['SyncError'];
export type SyncKnowledgeBase = components['schemas']['SyncKnowledgeBase'];
export type SyncManifest = components['schemas']['SyncManifest'];
export type SyncRemoved = components['schemas']['SyncRemoved'];
export type SyncUpload = components['schemas']['SyncUpload'];
export type SyncUploaded = components['schemas']['SyncUploaded'];
export type TextCompletion = components['schemas']['TextCompletion'];
export type TextCompletionRequest = components['schemas']['TextCompletionRequest'];
export type TextDeltaFrame = components['schemas']['TextDeltaFrame'];
export type Tool = components['schemas']['Tool'];
export type ToolCallFrame = components['schemas']['ToolCallFrame'];
export type ToolList = components['schemas']['ToolList'];
export type ToolProgressFrame = components['schemas']['ToolProgressFrame'];
export type ToolResultFrame = components['schemas']['ToolResultFrame'];
export type TurnStartFrame = components['schemas']['TurnStartFrame'];
export type UrlCitation = components['schemas']['UrlCitation'];
export type Usage = components['schemas']['Usage'];
export type UsageLeft = components['schemas']['UsageLeft'];
export type UsageReport = components['schemas']['UsageReport'];
export type UsageRow = components['schemas']['UsageRow'];
export type VectorStore = components['schemas']['VectorStore'];
export type VectorStoreFile = components['schemas']['VectorStoreFile'];
export type VectorStoreFileContent = components['schemas']['VectorStoreFileContent'];
export type VectorStoreFileList = components['schemas']['VectorStoreFileList'];
export type VectorStoreFileUpdate = components['schemas']['VectorStoreFileUpdate'];
export type VectorStoreList = components['schemas']['VectorStoreList'];
export type VectorStoreSearch = components['schemas']['VectorStoreSearch'];
export type VectorStoreSearchResults = components['schemas']['VectorStoreSearchResults'];
export type VectorStoreUpdate = components['schemas']['VectorStoreUpdate'];
export type WatchedFolder = components['schemas']['WatchedFolder'];
export type WatchedFolders = components['schemas']['WatchedFolders'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
