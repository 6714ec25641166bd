#!/usr/bin/env bash
# Takes the pictures of the web UI that README.md shows, from a running demo.
# usage: docs/images/take.sh [PORT=8081]      needs Chromium (Debian: chromium), Node.js and npm; a `./draftmill demo --port PORT` that trains
set -euo pipefail
port=${1:-8081}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --silent --no-fund --no-audit --prefix "$work" playwright-core@1 >/dev/null
cat >"$work/take.mjs" <<'JS'
import { chromium } from 'playwright-core';

const [base, out] = process.argv.slice(2);
const rest = async (path) => (await fetch(base + path)).json();
const { jobs } = await rest('/jobs');
const job = jobs.find((candidate) => candidate.status === 'RUNNING')?.id;
if (!job) throw new Error(`no job runs at ${base}`);
const { vertices } = await rest(`/jobs/${job}`);
const pool = vertices.find((vertex) => vertex.name === 'pool').id;

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
});
const page = await browser.newPage({ viewport: { width: 1500, height: 820 } });
for (const [name, path] of [
  ['web-ui', `/#/job/running/${job}/overview`],
  ['web-ui-checkpoints', `/#/job/running/${job}/checkpoints`],
  ['web-ui-pool', `/#/job/running/${job}/overview/${pool}/detail`],
]) {
  await page.goto(base + path);
  await page.waitForTimeout(6000); // the page polls for ever and has no state to wait for
  await page.screenshot({ path: `${out}/${name}.png` });
}
await browser.close();
JS
(cd "$work" && node take.mjs "http://127.0.0.1:$port" "$here")
ls -l "$here"/*.png
