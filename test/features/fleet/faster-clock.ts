/** For Node.js: timers and the clock without jumps go so many times as fast. */
export function fasterClock(times: number): string[] {
  const code =
    `const{now}=performance;performance.now=()=>now.call(performance)*${times};` +
    `const set=setTimeout;globalThis.setTimeout=(work,ms,...rest)=>set(work,ms/${times},...rest);`;
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
}
