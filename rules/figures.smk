rule plot:
    input:
        trajectories=f"results/{SETTINGS.scale}/{{figure}}/trajectories.parquet",
        quantities=f"results/{SETTINGS.scale}/{{figure}}/quantities.json",
        verdicts=f"results/{SETTINGS.scale}/{{figure}}/verdicts.json",
        code=lambda w: code(f"plots.{w.figure}") + code("plots.stamp"),
        style="src/sgdclaims/plots/sgdclaims.mplstyle",
    output:
        multiext("figures/{figure}", ".pdf", ".png"),
    log:
        "logs/plot/{figure}.log",
    conda:
        ENVIRONMENT
    params:
        scale=SETTINGS.scale,
    message:
        "Drawing {wildcards.figure} from scale {params.scale}"
    shell:
        "python -m sgdclaims plot {wildcards.figure} --scale {params.scale} --log {log:q}"


# One target per figure: rules with wildcards cannot be named on the command line.
for figure in FIGURES:

    rule:
        name:
            figure
        input:
            figure_files(figure),
        localrule: True
