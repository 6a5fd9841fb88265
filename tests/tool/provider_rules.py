"""Servers that enforce what providers document, written from their documentation and not from our table of rules.

Each takes a request and gives a status and a body. They answer in prose or JSON as they are asked.
"""

from __future__ import annotations

import json

import httpx

SAID = {"choice": "a", "confidence": 0.8}
WORDS = "a, 0.80"


class Refusing(Exception):
    """The server does not take a request."""

    def __init__(self, status: int, said: str):
        super().__init__(said)
        self.status, self.said = status, said


def require(holds: bool, said: str, status: int = 400) -> None:
    if not holds:
        raise Refusing(status, said)


def openai_reply(text: str, body: dict, thoughts: int = 0, refusal: str | None = None) -> dict:
    message = {"role": "assistant", "content": None if refusal else text} | (
        {"refusal": refusal} if refusal else {}
    )
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    used = {"prompt_tokens": 100, "completion_tokens": 10 + thoughts, "total_tokens": 110 + thoughts}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]} | {
        "usage": used
    }


def openai_reasoning(request: httpx.Request, body: dict) -> dict:
    """https://platform.openai.com/docs/guides/reasoning."""
    say = "Unsupported {}: '{}' {} with this model."
    require(body.get("temperature", 1) == 1, say.format("value", "temperature", "does not support 0"))
    require(
        "max_tokens" not in body,
        say.format("parameter", "max_tokens", "is not supported") + " Use 'max_completion_tokens' instead.",
    )
    require("logprobs" not in body, "You are not allowed to request logprobs from this model.", 403)
    thoughts = {"low": 900, "medium": 4000, "high": 9000}[body.get("reasoning_effort", "medium")]
    enough = body.get("max_completion_tokens", 10**6) > thoughts + 10
    return openai_reply(WORDS if enough else "", body, thoughts)


def openai_plain(request: httpx.Request, body: dict) -> dict:
    return openai_reply(json.dumps(SAID) if "response_format" in body else WORDS, body)


FIELDS = {"model", "messages", "max_tokens", "temperature", "system", "thinking", "output_config", "output_format"}


def anthropic(request: httpx.Request, body: dict) -> dict:
    """https://docs.anthropic.com/en/api/messages and .../build-with-claude/extended-thinking."""
    for field in sorted(body.keys() - FIELDS):
        raise Refusing(400, f"{field}: Extra inputs are not permitted")
    thinking = body.get("thinking", {})
    if body["model"] in ("claude-opus-4-7", "claude-opus-5", "claude-sonnet-5"):
        require("temperature" not in body, "`temperature` is deprecated for this model.")
        require(thinking.get("type") != "enabled", '"thinking.type.enabled" is not supported for this model.')
    elif thinking:
        require(body.get("temperature", 1) == 1, "`temperature` may only be set to 1 when thinking is enabled")
    if thinking.get("type") == "enabled":
        require(thinking["budget_tokens"] >= 1024, "thinking.enabled.budget_tokens: should be at least 1024")
        require(
            body["max_tokens"] > thinking["budget_tokens"],
            "`max_tokens` must be greater than `thinking.budget_tokens`",
        )
    return {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": json.dumps(SAID) if "output_format" in body else WORDS}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }


def gemini(request: httpx.Request, body: dict) -> dict:
    """https://ai.google.dev/gemini-api/docs/thinking: thoughts are among the tokens of the output."""
    settings = body["generationConfig"]
    thoughts = settings.get("thinkingConfig", {}).get("thinkingBudget", 4000)
    enough = settings["max_output_tokens"] > thoughts + 10
    said = {"parts": [{"text": WORDS}], "role": "model"} if enough else {"role": "model"}
    return {
        "candidates": [{"content": said, "finishReason": "STOP" if enough else "MAX_TOKENS", "index": 0}],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
        "modelVersion": "gemini",
    }


def azure(request: httpx.Request, body: dict) -> dict:
    """https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle: the v1 interface.

    A deployment has any name, so that nobody can tell its model by it.
    """
    require(request.url.host.endswith(".openai.azure.com"), "no such resource", 404)
    require(request.url.path == "/openai/v1/chat/completions", "Resource not found", 404)
    require(request.headers["authorization"].startswith("Bearer "), "Access denied", 401)
    return openai_reasoning(request, body)


def vertex(request: httpx.Request, body: dict) -> dict:
    """https://cloud.google.com/vertex-ai/generative-ai/docs/start/openai."""
    path = "/v1/projects/PROJECT/locations/europe-west4/endpoints/openapi/chat/completions"
    require(request.url.path == path, "Not found", 404)
    require(request.headers["authorization"].startswith("Bearer "), "Request had invalid authentication", 401)
    require(body["model"].startswith("google/"), "Malformed publisher model", 400)
    enough = body.get("max_tokens", 10**6) > 4010
    return openai_reply(WORDS if enough else "", body, 4000)


def llama_cpp(request: httpx.Request, body: dict) -> dict:
    """llama-cpp-python's server: another form of replies is an error of its own, status 500."""
    form = body.get("response_format")
    said = "1 validation error: response_format -> type: unexpected value; permitted: 'text', 'json_object'"
    require(form is None or form["type"] in ("text", "json_object"), said, 500)
    return openai_reply(json.dumps(SAID) if form and "schema" in form else "qzx", body)


def old_vllm(request: httpx.Request, body: dict) -> dict:
    """vLLM before it took OpenAI's form: https://docs.vllm.ai/en/v0.6.0 (guided decoding)."""
    form = body.get("response_format")
    said = "[{'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text'\"}]"
    require(form is None or form["type"] == "text", said, 422)
    return openai_reply(json.dumps(SAID) if "guided_json" in body else "qzx", body)


def deaf(request: httpx.Request, body: dict) -> dict:
    """A server that ignores OpenAI's form of a schema, and does not say so."""
    form = body.get("response_format") or {}
    return openai_reply(json.dumps(SAID) if form.get("type") == "json_object" else "qzx", body)


def ollama(request: httpx.Request, body: dict) -> dict:
    """https://github.com/ollama/ollama/blob/main/docs/api.md: the schema goes into `format`."""
    require(request.url.path == "/api/chat", "404 page not found", 404)
    said = json.dumps(SAID) if isinstance(body.get("format"), dict) else "qzx"
    message = {"role": "assistant", "content": said}
    return {"model": body["model"], "created_at": "2026-01-01T00:00:00Z", "message": message, "done": True} | {
        "done_reason": "stop",
        "prompt_eval_count": 100,
        "eval_count": 10,
    }


class Server:
    """One of these as what an HTTP client sends to; it counts, and refuses in the provider's form."""

    def __init__(self, rule):
        self.rule, self.bodies = rule, []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        self.bodies.append(body)
        try:
            return httpx.Response(200, json=self.rule(request, body))
        except Refusing as refused:
            return httpx.Response(refused.status, json={"error": {"message": refused.said, "type": "invalid"}})
