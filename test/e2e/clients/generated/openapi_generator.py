"""Asks a server by the client that openapi-generator makes."""

import json
import os

import openapi_client as agent

settings = agent.Configuration(host=os.environ["URL"], access_token=os.environ["KEY"])
question = os.environ["QUESTION"]
with agent.ApiClient(settings) as client:
    knowledge = agent.KnowledgeApi(client)
    found = knowledge.query(agent.QueryRequest(query=question))
    document = agent.CreateDocument(text="Geese fly south.")
    created = knowledge.create_document_with_http_info(document)
    try:
        knowledge.get_document("nothing")
    except agent.exceptions.NotFoundException as error:
        missing = error.status
    message = agent.CompletionMessage(
        agent.CompletionMessageUser(role="user", content=agent.CompletionMessageSystemContent(question))
    )
    request = agent.CompletionRequest(messages=[message], stream=False)
    answer = agent.ChatApi(client).create_chat_completion(request)
    said = [found.hits[0].title, created.status_code, missing, answer.choices[0].message.content]
    print(json.dumps(said))
