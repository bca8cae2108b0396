/** For Node.js: timers and the clock without jumps go so many times as fast. */
export function fasterClock(times: number): string[] {
  const code =
    `const{now}=performance;performance.now=()=>now.call(performance)*${times};` +
    // What the build puts in its place.
    `const{uptime}=process;process.uptime=()=>uptime.call(process)*${times};` +
    `const set=setTimeout;globalThis.setTimeout=(work,ms,...rest)=>set(work,ms/${times},...rest);`;
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
}
