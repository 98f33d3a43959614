rule train:
    input:
        data=lambda w: [
            f"data/{name}.provenance.json" for name in FIGURES[w.figure].entry.datasets
        ],
        code=lambda w: code(f"experiments.{w.figure}"),
    output:
        trajectories="results/{scale}/{figure}/trajectories.parquet",
        quantities="results/{scale}/{figure}/quantities.json",
    log:
        "logs/{scale}/{figure}.train.log",
    benchmark:
        "results/{scale}/{figure}/train.benchmark.tsv"
    wildcard_constraints:
        figure=alternatives(name for name in FIGURES if name not in LONG),
    conda:
        ENVIRONMENT
    threads: lambda w: FIGURES[w.figure].entry.threads
    # Schedulers read these. A job that was killed for memory or time gets more of both.
    resources:
        mem_mb=lambda w, attempt: FIGURES[w.figure].needs(w.scale).mem_mb * attempt,
        runtime=lambda w, attempt: FIGURES[w.figure].needs(w.scale).minutes * attempt,
    params:
        parameters=lambda w: json.dumps(
            FIGURES[w.figure]
            .parameters(w.scale, SETTINGS.seeds)
            .model_dump(mode="json")
        ),
        # The command reads it from the configuration: another number changes the last digits.
        pool=lambda w: FIGURES[w.figure].entry.threads,
        seeds=f"--seeds {SETTINGS.seeds}" if SETTINGS.seeds else "",
    message:
        "Training {wildcards.figure} at scale {wildcards.scale}"
    shell:
        "python -m sgdclaims train {wildcards.figure} --scale {wildcards.scale} {params.seeds}"
        " --log {log:q}"


# The longest figures first: one that starts last keeps every other core waiting.
use rule train as train_long with:
    wildcard_constraints:
        figure=alternatives(LONG),
    priority: 10


rule judge:
    input:
        quantities="results/{scale}/{figure}/quantities.json",
        code=code("claims.judge"),
    output:
        "results/{scale}/{figure}/verdicts.json",
    log:
        "logs/{scale}/{figure}.judge.log",
    conda:
        ENVIRONMENT
    params:
        claims=lambda w: claims_digest(w.figure),
    message:
        "Judging {wildcards.figure} at scale {wildcards.scale}"
    shell:
        "python -m sgdclaims judge {wildcards.figure} --scale {wildcards.scale} --log {log:q}"
