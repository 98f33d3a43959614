rule fetch:
    # The source and the mirror are no params, they reach the command through the environment:
    # naming a mirror must not refetch, and retrain on, data that are already genuine.
    output:
        "data/{dataset}.provenance.json",
    log:
        "logs/fetch/{dataset}.log",
    # Before everything else: the longest figures wait for data.
    priority: 20
    conda:
        ENVIRONMENT
    params:
        request=lambda w: dataset_request(
            w.dataset, Path("data"), SETTINGS.data_source, MIRROR
        ),
    message:
        "Laying out {wildcards.dataset}"
    shell:
        "python -m sgdclaims fetch {wildcards.dataset} --request {params.request:q} --log {log:q}"
