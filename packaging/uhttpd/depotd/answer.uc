'use strict';

/* The daemon's answer on its way to uhttpd: head, chunks, and the limits of event streams. */

const fs = require('fs');
const http = require('depotd.http');

const hasLineBreak = http.hasLineBreak;
const isMadeOf = http.isMadeOf;
const isDigits = http.isDigits;
const chunk = http.chunk;
const refuse = http.refuse;

const MAX_HEAD_BYTES = 65536;
/* uhttpd waits for ever on a longer header line. */
const MAX_LINE_BYTES = 4000;
/* uhttpd cuts a reason at 63. */
const MAX_REASON_BYTES = 60;
const STREAM_RETRY_S = 5;
/* uhttpd's defaults. */
const SCRIPT_TIMEOUT_S = 60;
const MAX_REQUESTS = 3;

/* Hop-by-hop, or with a meaning for uhttpd. */
const NOT_ANSWERED = {
	'connection': 1, 'keep-alive': 1, 'proxy-connection': 1, 'transfer-encoding': 1, 'upgrade': 1,
	'trailer': 1, 'status': 1,
};

/* The argument of an option of the uhttpd that started this process. */
function uhttpdOption(name, fallback) {
	const stat = fs.readfile('/proc/self/stat');
	const parent = split(substr(stat, rindex(stat, ')') + 2), ' ')[1];
	const words = split(fs.readfile(`/proc/${parent}/cmdline`) || '', chr(0));
	const at = index(words, name);
	return at > 0 && isDigits(words[at + 1] || '') ? int(words[at + 1]) : fallback;
}

/*
 * Decodes chunks (RFC 9112, section 7.1) and returns what is in them; `isOver` after the last one,
 * `isBroken` if they are none.
 */
function dechunk(chunks, data) {
	let text = '';
	chunks.rest += data;
	while (!chunks.isOver && !chunks.isBroken) {
		const part = substr(chunks.rest, 0, chunks.left);
		chunks.rest = substr(chunks.rest, length(part));
		chunks.left -= length(part);
		text += part;
		const end = index(chunks.rest, '\r\n');
		if (chunks.left > 0 || end < 0) break;
		const line = substr(chunks.rest, 0, end);
		chunks.rest = substr(chunks.rest, end + 2);
		if (line == '') continue;
		const size = split(line, ';')[0];
		chunks.isBroken = !isMadeOf('0123456789abcdefABCDEF', size);
		chunks.left = chunks.isBroken ? 0 : hex(size);
		chunks.isOver = !chunks.isBroken && chunks.left == 0;
	}
	return text;
}

/* Status and header fields, the names in lower case; null if the text is no head. */
function parseHead(text) {
	const lines = split(text, '\r\n');
	const line = lines[0];
	const status = substr(line, 9, 3);
	if (substr(line, 0, 7) != 'HTTP/1.' || length(status) < 3 || !isDigits(status)) return null;
	const reason = substr(line, 13, MAX_REASON_BYTES);
	const head = {
		status: int(status), reason: hasLineBreak(reason) ? '' : reason,
		fields: '', size: -1, type: '', isChunked: false,
	};
	for (let at = 1; at < length(lines); at++) {
		const colon = index(lines[at], ':');
		if (colon < 1 || length(lines[at]) >= MAX_LINE_BYTES || hasLineBreak(lines[at])) continue;
		const name = lc(substr(lines[at], 0, colon));
		const value = trim(substr(lines[at], colon + 1));
		if (name == 'content-length') head.size = int(value);
		else if (name == 'content-type') head.type = lc(value);
		else if (name == 'transfer-encoding') head.isChunked = lc(value) == 'chunked';
		if (!NOT_ANSWERED[name]) head.fields += `${name}: ${value}\r\n`;
	}
	return head;
}

/*
 * Event streams may have all of uhttpd's slots but one: `stream` is the lock on one, which ends
 * with this process, however that ends.
 */
function limitStream(request, answer) {
	const slots = uhttpdOption('-n', MAX_REQUESTS) - 1;
	for (let slot = 1; !answer.stream && slot <= (slots > 1 ? slots : 1); slot++) {
		const file = fs.open(`${request.socket}.stream${slot}`, 'we', 384);
		if (file && file.lock('xn')) answer.stream = file;
	}
	if (!answer.stream) {
		const message = 'cannot open one more event stream: uhttpd has no slot for it';
		refuse(request, '503 Service Unavailable', message, `Retry-After: ${STREAM_RETRY_S}\r\n`);
	}
	const limitS = uhttpdOption('-t', SCRIPT_TIMEOUT_S);
	if (limitS > 0) answer.endsAtMs = request.startedAtMs + limitS * 800;
}

/*
 * An answer in chunks is put in chunks anew, so that its end is given here or not: uhttpd ends its
 * own chunks whatever happened. Returns the head for uhttpd.
 */
function beginAnswer(request, answer, head) {
	const isHead = request.env.REQUEST_METHOD == 'HEAD';
	const hasBody = !isHead && head.status != 204 && head.status != 304;
	if (hasBody && substr(head.type, 0, 17) == 'text/event-stream') limitStream(request, answer);
	if (hasBody && head.isChunked) {
		answer.chunks = { rest: '', left: 0, isOver: false, isBroken: false };
	}
	answer.hasBegun = true;
	answer.left = hasBody ? head.size : 0;
	answer.isComplete = answer.left == 0;
	answer.isChunked = hasBody && head.size < 0 && request.env.SERVER_PROTOCOL != 'HTTP/1.0';
	let text = `Status: ${head.status} ${head.reason || 'Unknown'}\r\n` + head.fields;
	/* Without a length uhttpd puts in chunks what has no body, too. */
	if (!hasBody && !isHead && head.size < 0) text += 'content-length: 0\r\n';
	return text + (answer.isChunked ? 'transfer-encoding: chunked\r\n\r\n' : '\r\n');
}

/* What uhttpd gets of a piece of the body; null if the chunks are broken. */
function bodyFor(answer, data) {
	let piece = data;
	if (answer.chunks) piece = dechunk(answer.chunks, data);
	else if (answer.left >= 0) piece = substr(data, 0, answer.left);
	if (answer.left > 0) answer.left -= length(piece);
	answer.isComplete = answer.chunks ? answer.chunks.isOver : answer.left == 0;
	if (answer.chunks && answer.chunks.isBroken) answer.isBroken = true;
	return answer.isChunked && piece != '' ? chunk(piece) : piece;
}

/* False if what came is no answer. */
function receive(request, answer, data) {
	let text = '';
	while (!answer.hasBegun) {
		answer.text += data;
		const end = index(answer.text, '\r\n\r\n');
		if (end < 0) return length(answer.text) <= MAX_HEAD_BYTES;
		const head = parseHead(substr(answer.text, 0, end));
		data = substr(answer.text, end + 4);
		answer.text = '';
		if (!head) return false;
		if (head.status >= 200) text = beginAnswer(request, answer, head);
	}
	if (!answer.isComplete && data != '') text += bodyFor(answer, data);
	if (text != '') request.put(text);
	return !answer.isBroken;
}

/*
 * A stream of events may end anywhere. Any other answer in chunks that is not complete is left
 * without its end, so that the reader knows at once.
 */
function endAnswer(request, answer) {
	if (!answer.hasBegun) {
		const message = 'cannot pass the answer on: depotd ended before it gave one';
		refuse(request, '502 Bad Gateway', message);
	}
	if (!answer.chunks && answer.left < 0) answer.isComplete = true;
	if (answer.isChunked) request.put(answer.isComplete || answer.stream ? '0\r\n\r\n' : '!\r\n');
}

/* Nothing of it has come yet. `stream`, `endsAtMs`: of an event stream. */
function create() {
	return {
		text: '', hasBegun: false, isComplete: false, isChunked: false, isBroken: false,
		chunks: null, left: -1, stream: null, endsAtMs: 0,
	};
}

return { create: create, receive: receive, end: endAnswer };
