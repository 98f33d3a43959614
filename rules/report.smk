rule report:
    input:
        quantities=[
            f"results/{SETTINGS.scale}/{name}/quantities.json" for name in FIGURES
        ],
        verdicts=[f"results/{SETTINGS.scale}/{name}/verdicts.json" for name in FIGURES],
        figures=[f"figures/{name}.png" for name in FIGURES],
        claims="paper_claims.md",
        code=code("report.html") + code("report.table"),
        template="src/sgdclaims/report/template.html",
    output:
        claims=f"results/{SETTINGS.scale}/claims.csv",
        markdown=f"results/{SETTINGS.scale}/report.md",
        html=f"results/{SETTINGS.scale}/report.html",
    log:
        f"logs/{SETTINGS.scale}/report.log",
    conda:
        ENVIRONMENT
    params:
        scale=SETTINGS.scale,
    message:
        "Writing the report of scale {params.scale}"
    shell:
        "python -m sgdclaims report --scale {params.scale} --log {log:q}"


rule gate:
    # Last: by the time it can fail, every figure and the report are on disk.
    # It reads the results themselves: a damaged file that was set aside must be made again.
    input:
        rules.report.input.quantities,
        rules.report.input.verdicts,
        f"results/{SETTINGS.scale}/claims.csv",
    output:
        touch(f"results/{SETTINGS.scale}/gate.passed"),
    log:
        f"logs/{SETTINGS.scale}/gate.log",
    conda:
        ENVIRONMENT
    params:
        scale=SETTINGS.scale,
    message:
        "Comparing the verdicts of scale {params.scale} with the expected ones"
    shell:
        "python -m sgdclaims gate --scale {params.scale} --log {log:q}"
