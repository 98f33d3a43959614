rule fetch:
    # The source and the mirror are not params: they only matter where `request` changes,
    # so that naming a mirror does not refetch, and retrain on, data that are already genuine.
    output:
        "data/{dataset}.provenance.json",
    params:
        request=lambda w: dataset_request(
            w.dataset, Path("data"), SETTINGS.data_source, Path(MIRROR) if MIRROR else None
        ),
    log:
        "logs/fetch/{dataset}.log",
    conda:
        ENVIRONMENT
    message:
        "Laying out {wildcards.dataset}"
    shell:
        "python -m sgdclaims fetch {wildcards.dataset} --source {SETTINGS.data_source}"
        " --mirror={MIRROR:q} --request {params.request:q} --log {log:q}"
