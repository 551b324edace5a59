"""Every learner that trains networks on PU rows alone, with settings that make it short but miss none of its stages."""

from __future__ import annotations

from pulens.learners import (
    LBE,
    MPEPU,
    NNPU,
    PAN,
    PULCPBF,
    PULDA,
    PUSB,
    UPU,
    VAEPU,
    VPU,
    CGenPU,
    DistPU,
    HolisticPU,
    LaGAMPUOnly,
    P3MixC,
    P3MixE,
    RobustPU,
    SelfPU,
)

from pulens import learners

NETWORKS = tuple(name for name in learners.names() if learners.facts(name).is_network)


def quick(learner):
    """Settings that make any learner short: few epochs, few steps, small batches."""
    known = learner().get_params()
    passes = {name: 2 for name in known if name.endswith(("epochs", "episodes")) and isinstance(known[name], int)}
    sizes = {"batch_size": 16, "steps_per_epoch": 2}
    return passes | {name: value for name, value in sizes.items() if name in known}


SHORT = {
    NNPU: {"epochs": 3, "batch_size": 32},
    UPU: {"epochs": 3, "batch_size": 32},
    PUSB: {"epochs": 3, "batch_size": 32},
    VPU: {"epochs": 3, "batch_size": 16, "steps_per_epoch": 4, "halve_every": 2},
    MPEPU: {"epochs": 2, "warm_up_epochs": 2, "batch_size": 16},
    LBE: {"epochs": 2, "pretraining_steps": 3, "steps_per_epoch": 3, "subset": 0.3},
    PAN: {"epochs": 3, "batch_size": 32, "labelled_batch_size": 8},
    CGenPU: {"epochs": 2, "steps_per_epoch": 3, "batch_size": 16, "hidden": (16, 16)},
    VAEPU: {
        "epochs": 8,
        "pretraining_epochs": 1,
        "steps_per_epoch": 2,
        "batch_size": 24,
        "labelled_batch_size": 8,
        "hidden": (16,),
    },
    LaGAMPUOnly: {"epochs": 3, "warm_up_epochs": 1, "batch_size": 32, "groups": 3},
    PULCPBF: {"epochs": 2, "fence_epochs": 3, "batch_size": 16, "levels": 3},
    DistPU: {"epochs": 2, "warm_up_epochs": 2, "batch_size": 32},
    PULDA: {"epochs": 2, "warm_up_epochs": 2, "batch_size": 32, "labelled_batch_size": 8},
    HolisticPU: {"trend_epochs": 4, "epochs": 2, "batch_size": 8, "views": "noise"},
    RobustPU: {"pretraining_epochs": 3, "episodes": 2, "batch_size": 32, "pretraining_selection": "proxy_accuracy"},
    P3MixC: {
        "epochs": 3,
        "batch_size": 16,
        "heuristic_start": 1,
        "steps_per_epoch": None,
        "pool_size": 30,
        "mix_layer": 0,
    },
    P3MixE: {"epochs": 3, "batch_size": 16, "heuristic_start": 1, "steps_per_epoch": None, "pool_size": 30},
    SelfPU: {"epochs": 5, "batch_size": 32, "trust_start": 1, "trust_every": 1, "trust_stop": 3, "teacher_start": 3},
}

# for tests that train each of them some fifty times
SHORTEST = {
    NNPU: {"epochs": 1},
    UPU: {"epochs": 1},
    PUSB: {"epochs": 1},
    VPU: {"epochs": 1, "steps_per_epoch": 2, "batch_size": 8},
    MPEPU: {"epochs": 1, "warm_up_epochs": 1, "batch_size": 8},
    LBE: {"epochs": 1, "pretraining_steps": 2, "steps_per_epoch": 2},
    PAN: {"epochs": 1, "batch_size": 8, "labelled_batch_size": 4},
    CGenPU: {"epochs": 1, "steps_per_epoch": 2, "batch_size": 8, "hidden": (8,)},
    VAEPU: SHORT[VAEPU]
    | {"epochs": 2, "steps_per_epoch": 1, "batch_size": 8, "labelled_batch_size": 4, "hidden": (8,)},
    LaGAMPUOnly: {"epochs": 1, "warm_up_epochs": 1, "batch_size": 16, "groups": 2},
    PULCPBF: {"epochs": 1, "fence_epochs": 1, "batch_size": 8, "levels": 2},
    DistPU: {"epochs": 1, "warm_up_epochs": 1},
    PULDA: {"epochs": 1, "warm_up_epochs": 1, "batch_size": 8, "labelled_batch_size": 4},
    HolisticPU: {"trend_epochs": 3, "epochs": 1, "steps_per_epoch": 2, "batch_size": 8, "standardise": True},
    RobustPU: {"pretraining_epochs": 1, "episodes": 1, "epochs_per_episode": 1},
    P3MixC: {"epochs": 2, "heuristic_start": 1, "steps_per_epoch": 2, "batch_size": 8},
    P3MixE: {"epochs": 2, "heuristic_start": 1, "steps_per_epoch": 2, "batch_size": 8},
    SelfPU: {"epochs": 4, "trust_start": 1, "trust_stop": 2, "trust_ramp": 2, "teacher_start": 2},
}

# a new file is tested the moment it exists; rows above are for learners with more stages than that would show
for _name in NETWORKS:
    _facts = learners.facts(_name)
    if not _facts.needs_support:
        for _settings in (SHORT, SHORTEST):
            _settings.setdefault(_facts.learner, quick(_facts.learner))


def short(learner, settings=SHORT, **more):
    """The learner with its settings, and a class prior of one half if it asks for one."""
    prior = {"class_prior": 0.5} if learner._program.needs_class_prior else {}
    return learner(**{**settings[learner], **prior, "device": "cpu", "progress": False, **more})
