'use strict';

/* What a request and an answer have in common. */

/* Whether the text would end a line of a head. */
function hasLineBreak(text) {
	return index(text, '\n') >= 0 || index(text, '\r') >= 0;
}

/* Without an expression: ucode compiles one each time that it comes across it. */
function isMadeOf(characters, text) {
	for (let at = 0; at < length(text); at++) {
		if (index(characters, substr(text, at, 1)) < 0) return false;
	}
	return text != '';
}

function isDigits(text) {
	return isMadeOf('0123456789', text);
}

function chunk(piece) {
	return sprintf('%x\r\n', length(piece)) + piece + '\r\n';
}

/* The relay's own answer, after which the process ends. `field`: a line of the head. */
function refuse(request, status, message, field) {
	const body = sprintf('{"code":%d,"msg":%J}', int(status), message);
	request.put(
		`Status: ${status}\r\nContent-Type: application/json; charset=utf-8\r\n` +
		`Cache-Control: no-store\r\n${field || ''}Content-Length: ${length(body)}\r\n\r\n${body}`
	);
	exit(0);
}

return {
	hasLineBreak: hasLineBreak,
	isMadeOf: isMadeOf,
	isDigits: isDigits,
	chunk: chunk,
	refuse: refuse,
};
