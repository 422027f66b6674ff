"""How all pages look: one style sheet, no more than they need; pure."""

from __future__ import annotations

STYLE = """
:root { --accent:#5457e0; --ink:#1b1f2a; --soft:#687085; --line:#e4e7ee; --paper:#fff;
  --ground:#f5f6f9; --good:#15803d; --bad:#b91c1c; --warn:#b45309; --side:#141821; }
body, .q-page-container, .nicegui-content { background:var(--ground); color:var(--ink); }
body { font-size:14px; }
.nicegui-content { padding:24px 28px 48px; gap:18px; max-width:1500px; align-items:stretch; }
.side { background:var(--side) !important; color:#cfd5e3; padding:18px 12px; gap:2px; }
.brand { color:#fff; font-size:17px; font-weight:600; padding:2px 10px 14px; letter-spacing:.2px; }
.nav { display:flex; align-items:center; gap:12px; padding:9px 10px; border-radius:8px;
  color:#aab3c5 !important; text-decoration:none !important; width:100%; }
.nav:hover { background:#1f2532; color:#fff !important; }
.nav.here { background:#2a3142; color:#fff !important; }
.side .gap { flex:1; }
.side-note { font-size:12px; color:#8b94a8; padding:10px; line-height:1.5; }
.logout { background:none; border:0; color:#aab3c5; cursor:pointer; padding:6px 10px;
  font:inherit; }
.logout:hover { color:#fff; }
.mode { font-size:12px; border-radius:6px; padding:3px 8px; margin:0 10px;
  background:#1f2937; color:#9fe3b4; width:fit-content; }
.mode.changing { background:#3b2a12; color:#fbbf77; }
h1 { font-size:22px; font-weight:600; line-height:1.3; margin:0; letter-spacing:-.2px; }
h2 { font-size:15px; font-weight:600; line-height:1.4; margin:0; }
.soft { color:var(--soft); }
.trouble { background:#fef2f2; color:var(--bad); border:1px solid #fecaca; border-radius:8px;
  padding:8px 12px; width:100%; }
.figures { display:grid; grid-template-columns:repeat(auto-fit,minmax(150px,1fr)); gap:14px;
  width:100%; }
.figure { background:var(--paper); border:1px solid var(--line); border-radius:10px;
  padding:14px 16px; }
.figure .name { color:var(--soft); font-size:12px; }
.figure .value { font-size:24px; font-weight:600; line-height:1.3;
  font-variant-numeric:tabular-nums; }
.figure .more { color:var(--soft); font-size:12px; min-height:1.2em; }
.figure.bad .value { color:var(--bad); } .figure.good .value { color:var(--good); }
.panel { background:var(--paper); border:1px solid var(--line); border-radius:10px; width:100%;
  padding:14px 16px; gap:10px; display:flex; flex-direction:column; }
.line { display:flex; align-items:center; gap:12px; flex-wrap:wrap; width:100%; }
.q-table__card { box-shadow:none !important; background:transparent; width:100%; }
.q-table th { font-size:12px; color:var(--soft); font-weight:500; }
.q-table td { white-space:nowrap; font-size:13px; font-variant-numeric:tabular-nums; }
.q-table tbody tr:hover { background:#f7f8fc; }
.q-table__bottom { font-size:12px; color:var(--soft); min-height:40px; }
.link { color:var(--accent) !important; text-decoration:none !important; }
.link:hover { text-decoration:underline !important; }
.mono { font-family:ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace;
  font-size:12.5px; }
.cut { max-width:640px; overflow:hidden; text-overflow:ellipsis; white-space:nowrap; }
.narrow { max-width:230px; }
.badge { display:inline-block; border-radius:6px; padding:2px 8px; font-size:12px;
  font-weight:500; background:#eef0f5; color:#4b5366; }
.badge.election,.badge.epoch { background:#e8e8fd; color:#3b3ec4; }
.badge.registration,.badge.Stable,.badge.leader,.badge.follower,.badge.standalone,
.badge.controller,.badge.running { background:#e3f5e9; color:#14713a; }
.badge.expiry,.badge.Dead,.badge.gone,.badge.failed { background:#fde8e8; color:#a61b1b; }
.badge.isr,.badge.silent,.badge.connection,
.badge.PreparingRebalance { background:#fdf0dc; color:#92510b; }
.badge.rebalance { background:#e2f1fb; color:#125e8f; }
.badge.topic,.badge.config,.badge.reassignment { background:#f0ebfa; color:#5b35a8; }
.bad { color:var(--bad); font-weight:600; }
pre.data { background:#f7f8fb; border:1px solid var(--line); border-radius:8px; padding:12px;
  margin:0; max-height:420px; overflow:auto; white-space:pre-wrap; word-break:break-word;
  width:100%; }
.split { display:grid; grid-template-columns:minmax(280px,2fr) 3fr; gap:16px; width:100%;
  align-items:start; }
.split > .panel { min-width:0; }
.tree { max-height:70vh; overflow:auto; }
.facts { display:grid; grid-template-columns:max-content 1fr; gap:4px 18px; font-size:13px; }
.facts .k { color:var(--soft); }
.q-btn { text-transform:none; border-radius:8px; }
@media (max-width:900px) { .split { grid-template-columns:1fr; } }
"""
