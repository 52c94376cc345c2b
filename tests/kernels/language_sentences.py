# SPDX-License-Identifier: Apache-2.0
"""Which tests hold each sentence of docs/language.md: the table behind docs/language-tests.md.

A sentence is found by how it begins. `model` names tests that run on the model device; `HOST` stands there for what
happens before any device has a part in it: reading a kernel, typing it, refusing it, binding its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "language.md"
TABLE = ROOT / "docs" / "language-tests.md"
HOST = "host"


@dataclass(frozen=True)
class Row:
    """A sentence, by its beginning, and the tests that prove it, as `file::test` in `tests/`."""

    start: str
    cpu: tuple[str, ...]
    model: tuple[str, ...]


def row(start: str, cpu: str, model: str = HOST) -> Row:
    """A row from texts with the tests of each kind, a blank between them."""
    return Row(start, tuple(map(_full, cpu.split())), tuple(map(_full, model.split())))


_SHORT = {
    "PAGE": "kernels/test_language_page.py::test_every_example_prints_what_stands_below_it",
    "ROWS": "kernels/test_language_rows.py",
    "PROGRAMS": "kernels/test_language_programs.py",
    "TENSORS": "kernels/test_language_tensors.py",
    "FUNCTIONS": "kernels/test_language_functions.py",
    "MEETING": "kernels/test_meeting_numbers.py",
    "MATH": "kernels/test_math_module.py",
    "SIZES": "kernels/test_sizes_at_launch.py",
    "OPTIONS": "kernels/test_options.py",
    "DEBUG": "kernels/test_debug_builds.py",
    "WHERE": "kernels/test_where_from.py",
    "PRECISION": "kernels/test_precision.py",
    "PUBLIC": "kernels/test_public_complaints.py",
    "OTHERS": "kernels/test_others_get_wrong.py",
    "KERNEL": "unit/test_kernel.py",
    "LAUNCHER": "unit/test_launcher.py",
    "CONTROL": "unit/test_frontend_control.py",
    "CORNERS": "unit/test_frontend_corners.py",
    "DIAGNOSTICS": "unit/test_frontend_diagnostics.py",
    "CORPUS": "unit/test_error_corpus.py::test_wrong_kernel",
    "TYPES": "kernels/test_types.py",
    "VIEWS": "kernels/test_views.py",
}


def _full(name: str) -> str:
    if name == HOST:
        return name
    file, mark, test = name.partition("::")
    return f"{_SHORT.get(file, file)}{mark}{test}"


ROWS: tuple[Row, ...] = (
    row("A kernel is a Python function.", "KERNEL::test_it_looks_like_the_function"),
    row("What it says means", "PROGRAMS::test_as_in_python CORPUS", "PROGRAMS::test_on_the_model"),
    row("Every example below", "PAGE", "PAGE"),
    row("All examples begin with", "PAGE", "PAGE"),
    row("`@asc.kernel` makes", "KERNEL::test_options_are_checked PAGE"),
    row("Calling it compiles", "KERNEL::test_a_specialisation_for_each_dtype_and_rank"),
    row("Arrays that it writes", "KERNEL::test_arrays_in_place_and_results_together", "ROWS::test_arguments"),
    row("| option", "KERNEL::test_options_are_checked"),
    row("| `target=`", "KERNEL::test_options_are_checked", "OPTIONS::test_a_target_is_what_the_model_runs"),
    row("| `precision=`", "PRECISION::test_options"),
    row("| `debug=True`", "DEBUG::test_watching_is_for_debug_builds", "DEBUG::test_failures_on_the_model"),
    row(
        "| `unchecked=True`",
        "KERNEL::test_unchecked_drops_the_checks",
        "OPTIONS::test_indices_are_checked_where_nobody_uses_the_element",
    ),
    row(
        "| `grid=`",
        "KERNEL::test_one_core_means_the_calling_thread",
        "OPTIONS::test_grid_is_the_number_of_cores OPTIONS::test_fewer_cores_give_the_same",
    ),
    row("| `name=`", "KERNEL::test_name_is_the_symbol"),
    row("| `autotune=`", "KERNEL::test_options_are_checked"),
    row(
        "A kernel has `.compile",
        "KERNEL::test_lower_shows_every_level KERNEL::test_lower_says_why_a_level_is_missing "
        "KERNEL::test_lower_takes_types_in_place_of_arguments KERNEL::test_sources_for_ascend "
        "KERNEL::test_py_func_is_the_function_in_plain_python KERNEL::test_its_signature_reads_as_it_was_written "
        "KERNEL::test_one_specialisation_serves_every_size",
        "OPTIONS::test_remarks_name_the_unit_of_a_line "
        "kernels/test_model.py::test_costs_are_predicted_and_grow",
    ),
    row(
        "Kernels may be module functions",
        "WHERE::test_plain WHERE::test_partial_of_a_kernel WHERE::test_body_and_static "
        "WHERE::test_factory_in_a_loop",
    ),
    row("A method's `self`", "WHERE::test_method_reads_its_object", "ROWS::test_arguments"),
    row("`python -c`, notebooks", "WHERE::test_command_line WHERE::test_zip_import"),
    row(
        "A string that was given to `exec`",
        "WHERE::test_exec_without_text_says_what_to_do KERNEL::test_a_kernel_of_a_text_that_is_not_executed",
    ),
    row(
        "A kernel may call Python functions",
        "unit/test_frontend_source.py::test_helpers_and_attributes_are_listed "
        "kernels/test_helpers_that_write.py::test_what_a_helper_writes_is_seen",
    ),
    row(
        "Globals, closure values",
        "WHERE::test_globals WHERE::test_constants_of_other_modules WHERE::test_a_reloaded_helper "
        "WHERE::test_a_list_changed_in_place WHERE::test_the_number_one_in_three_types "
        "WHERE::test_a_new_process_sees_the_new_text",
    ),
    row("A file that was edited", "WHERE::test_a_file_edited_after_import_is_refused"),
    row("| annotation", "unit/test_frontend_source.py::test_every_form"),
    row(
        "| `asc.float32[4, 8]`",
        "LAUNCHER::test_checks_extents_that_are_expressions LAUNCHER::test_refuses_another_rank",
    ),
    row(
        "| `asc.float32[N, 2 * N]`",
        "LAUNCHER::test_checks_extents_that_are_expressions LAUNCHER::test_a_size_bound_twice_names_both_parameters "
        "KERNEL::test_one_specialisation_serves_every_size",
    ),
    row("| `asc.float32[...]`", "KERNEL::test_any_leading_dimensions"),
    row(
        "| `asc.float32` |",
        "KERNEL::test_mapped_over_arrays_as_a_ufunc_is KERNEL::test_scalars_give_a_scalar",
        "ROWS::test_arguments",
    ),
    row(
        "| `asc.tensor`, none",
        "KERNEL::test_a_specialisation_for_each_dtype_and_rank",
        "ROWS::test_every_type",
    ),
    row("| `int`, `float`, `bool`", "LAUNCHER::test_scalars_come_and_go_as_numbers", "ROWS::test_arguments"),
    row(
        "| `asc.constexpr`",
        "KERNEL::test_compile_time_values_are_part_of_the_key WHERE::test_functions_as_constants",
    ),
    row(
        "Names of sizes come",
        "WHERE::test_future_annotations "
        "unit/test_frontend_source.py::test_names_that_only_the_definition_saw",
    ),
    row(
        "Defaults, keywords",
        "KERNEL::test_defaults_and_keywords WHERE::test_keyword_only_and_positional_only",
    ),
    row(
        "A dtype that does not fit",
        "KERNEL::test_an_int_is_refused_before_anything_is_compiled LAUNCHER::test_only_floats_convert_to_float32 "
        "LAUNCHER::test_a_wrong_dtype_is_a_launch_error_and_a_type_error",
    ),
    row(
        "Results may be declared",
        "CORNERS::test_a_result_annotation_of_several_values DIAGNOSTICS::test_a_wrong_return_type",
    ),
    row(
        "Arrays may be NumPy's",
        "LAUNCHER::test_takes_arrays_of_other_libraries "
        "unit/test_dlpack.py::test_a_kernel_reads_and_writes_them",
    ),
    row("Strided views work.", "LAUNCHER::test_takes_arrays_of_any_layout", "ROWS::test_arguments"),
    row("A read-only array", "LAUNCHER::test_refuses_a_read_only_output", "ROWS::test_arguments"),
    row(
        "Arguments may be the same array",
        "LAUNCHER::test_an_output_may_be_an_input kernels/test_shared_arguments.py::test_the_same_array_twice",
        "kernels/test_shared_arguments.py::test_the_same_array_twice",
    ),
    row(
        "Where they overlap in part",
        "kernels/test_shared_arguments.py::test_overlaps_in_part",
        "kernels/test_shared_arguments.py::test_overlaps_in_part",
    ),
    row(
        "Types are `float16",
        "TENSORS::test_on_cpu",
        "ROWS::test_every_type OPTIONS::test_float64_is_for_the_cpu",
    ),
    row(
        "Assignments of every form",
        "PROGRAMS::test_as_in_python CONTROL::test_as_python",
        "PROGRAMS::test_on_the_model",
    ),
    row(
        "Loops run over `range`",
        "PROGRAMS::test_as_in_python CONTROL::test_as_python",
        "PROGRAMS::test_on_the_model",
    ),
    row("A name that is an int", "PUBLIC::test_variables_set_in_branches_and_loops CONTROL::test_as_python"),
    row("A Python number that meets", "MEETING::test_as_in_python", "MEETING::test_on_the_model"),
    row(
        "A name that has no value",
        "DIAGNOSTICS::test_unset_on_one_side DIAGNOSTICS::test_unset_after_a_jump "
        "kernels/test_names_set_by_breaks.py::test_refused_with_the_path",
        "kernels/test_names_set_by_breaks.py::test_as_in_python",
    ),
    row("A branch under a condition", "CONTROL::test_known_conditions_leave_no_trace"),
    row("Names of arrays may change places", "kernels/test_swaps.py::test_as_in_python"),
    row(
        "What a kernel cannot have",
        "CORPUS unit/test_frontend_contents.py::test_every_node_has_its_place "
        "unit/test_error_pages.py::test_a_page",
    ),
    row("Scalars follow Python:", "PROGRAMS::test_as_in_python", "PROGRAMS::test_on_the_model"),
    row(
        "`/` divides",
        "PROGRAMS::test_as_in_python PUBLIC::test_a_negative_exponent_gives_a_float "
        "PUBLIC::test_and_and_or_give_an_operand PUBLIC::test_a_chain_of_comparisons",
        "PROGRAMS::test_on_the_model OTHERS::test_on_the_model PAGE",
    ),
    row("Arrays and their elements follow", "TENSORS::test_on_cpu", "TENSORS::test_on_the_model"),
    row(
        "Python numbers are weak",
        "ROWS::test_numbers_of_arrays TYPES::test_python_numbers_are_weak_and_integers_wrap",
        "ROWS::test_numbers_of_arrays",
    ),
    row(
        "Constants are folded",
        "unit/test_numbers_types.py::test_operators_fold_as_python_does "
        "unit/test_numbers_types.py::test_constants_are_rounded_once",
    ),
    row("These are the only differences", "TENSORS::test_on_cpu", "TENSORS::test_on_the_model"),
    row("| where", "TENSORS::test_on_cpu", "TENSORS::test_on_the_model"),
    row(
        "| a run-time `int` | has",
        "DEBUG::test_overflow_of_ints ROWS::test_documented_differences_of_numbers",
        "ROWS::test_documented_differences_of_numbers",
    ),
    row(
        "| a run-time `int` stored",
        "ROWS::test_documented_differences_of_numbers",
        "ROWS::test_documented_differences_of_numbers",
    ),
    row(
        "| a run-time `float`",
        "ROWS::test_documented_differences_of_numbers "
        "unit/test_frontend_tensors.py::test_run_time_floats_are_float64_beside_float64",
        "ROWS::test_documented_differences_of_numbers",
    ),
    row(
        "| float64 out of operands",
        "ROWS::test_documented_differences_of_numbers",
        "ROWS::test_documented_differences_of_numbers",
    ),
    row(
        "| integer `//` and `%` by 0",
        "ROWS::test_documented_differences_of_numbers DEBUG::test_division_by_zero",
        "ROWS::test_documented_differences_of_numbers",
    ),
    row(
        "| shifts by a count below 0",
        "kernels/test_rare_forms.py::test_shifts_by_a_count_below_zero",
        "kernels/test_rare_forms.py::test_shifts_by_a_count_below_zero",
    ),
    row(
        "| a float that does not fit",
        "ROWS::test_documented_differences_of_numbers "
        "TYPES::test_a_float_that_does_not_fit_saturates_and_nan_is_zero",
        "ROWS::test_documented_differences_of_numbers",
    ),
    row(
        "| a run-time `int` that meets float32",
        "ROWS::test_a_run_time_int_is_rounded_once",
        "ROWS::test_a_run_time_int_is_rounded_once",
    ),
    row(
        "| integers to negative powers",
        "ROWS::test_a_negative_power_of_ints_is_an_error "
        "OTHERS::test_numba_7012_numexpr_240_integers_to_negative_powers",
        "ROWS::test_a_negative_power_of_ints_is_an_error",
    ),
    row(
        "| functions of `math` outside",
        "MATH::test_remainders_without_a_value MATH::test_what_python_raises_for_known_numbers_is_refused",
    ),
    row(
        "The whole `math` module",
        "MATH::test_every_function_is_taken_or_refused_with_advice",
        "MATH::test_as_python",
    ),
    row("`gcd lcm comb", "MATH::test_as_python", "MATH::test_as_python MATH::test_what_has_no_value"),
    row(
        "Of known numbers each",
        "MATH::test_as_python MATH::test_every_function_is_taken_or_refused_with_advice",
    ),
    row("Elementwise arithmetic is done", "ROWS::test_numbers_of_arrays", "ROWS::test_numbers_of_arrays"),
    row(
        "Sums, and products summed",
        "kernels/test_reductions.py::test_sum "
        "unit/test_threads.py::test_each_iteration_runs_once_in_the_same_chunks",
        "kernels/test_cube.py::test_sizes OPTIONS::test_fewer_cores_give_the_same",
    ),
    row(
        "Sums of float16",
        "TYPES::test_a_half_sum_is_carried_in_float32",
        "ROWS::test_sums_of_halves_are_carried_in_float32",
    ),
    row("Builtin `min` and `max`", "PUBLIC::test_nan_in_min_and_max", "ROWS::test_numbers_of_arrays"),
    row(
        "Slices with steps",
        "TENSORS::test_on_cpu unit/test_frontend_tensors.py::test_as_numpy "
        "kernels/test_updates_by_places.py::test_as_numpy",
        "ROWS::test_indices_of_every_kind kernels/test_updates_by_places.py::test_as_numpy",
    ),
    row("Tensor expressions and loops", "PAGE", "PAGE"),
    row("Slices are cut", "SIZES::test_every_size_gives_what_numpy_gives", "SIZES::test_two_sizes"),
    row(
        "`x[1:]` of an axis",
        "SIZES::test_odd_sizes_are_compiled_for_once "
        "SIZES::test_sizes_that_no_kernel_is_made_for_run_as_far_as_they_go",
        "SIZES::test_every_size_gives_what_numpy_gives",
    ),
    row("An object file has no compiler", "SIZES::test_an_object_refuses_other_sizes"),
    row(
        "Extents that only the run time", "unit/test_frontend_tensors.py::test_sizes_that_differ_at_run_time"
    ),
    row(
        "A slice that moves with a counter",
        "kernels/test_operators.py::test_operators kernels/test_updates_by_places.py::test_as_numpy",
        "kernels/test_operators.py::test_operators kernels/test_updates_by_places.py::test_as_numpy",
    ),
    row("Names stand for arrays", "VIEWS::test_as_in_numpy", "VIEWS::test_on_the_model"),
    row(
        "An index out of range",
        "PUBLIC::test_an_index_out_of_range_is_an_error DEBUG::test_an_index_shows_its_place",
        "kernels/test_model.py::test_checks_of_data_raise_what_python_raises",
    ),
    row(
        "Indices that follow from counters",
        "OPTIONS::test_affine_indices_are_checked_before_anything_runs "
        "OPTIONS::test_indices_are_checked_where_nobody_uses_the_element",
        "OPTIONS::test_affine_indices_are_checked_before_anything_runs "
        "OPTIONS::test_indices_are_checked_where_nobody_uses_the_element",
    ),
    row("A mask does not select", "CORPUS"),
    row("Use `asc.where", "TENSORS::test_on_cpu", "TENSORS::test_on_the_model"),
    row("|  | functions", "unit/test_public.py::test_every_public_name_can_be_loaded"),
    row("| creation", "TENSORS::test_on_cpu FUNCTIONS::test_on_cpu", "TENSORS::test_on_the_model"),
    row("| numbers", "TENSORS::test_on_cpu", "TENSORS::test_on_the_model"),
    row("| reductions", "TENSORS::test_on_cpu", "TENSORS::test_on_the_model"),
    row("| products", "TENSORS::test_on_cpu ROWS::test_precision", "ROWS::test_precision"),
    row("| shapes", "TENSORS::test_on_cpu FUNCTIONS::test_on_cpu", "TENSORS::test_on_the_model"),
    row("| order", "FUNCTIONS::test_on_cpu", "FUNCTIONS::test_on_the_model"),
    row("| choice", "TENSORS::test_on_cpu", "TENSORS::test_on_the_model"),
    row("| networks", "TENSORS::test_on_cpu FUNCTIONS::test_on_cpu", "FUNCTIONS::test_on_the_model"),
    row("| constants", "unit/test_public.py::test_every_public_name_can_be_loaded"),
    row("Images are", "FUNCTIONS::test_on_cpu", "FUNCTIONS::test_on_the_model"),
    row(
        "`stride`, `padding`",
        "FUNCTIONS::test_on_cpu FUNCTIONS::test_mistakes",
        "FUNCTIONS::test_on_the_model",
    ),
    row("Where the size of a result", "PAGE", "PAGE"),
    row(
        "`asc.random` computes",
        "ROWS::test_random_numbers_are_those_of_plain_python",
        "ROWS::test_random_numbers_are_those_of_plain_python",
    ),
    row("Use a key once", "FUNCTIONS::test_random_numbers_are_spread_evenly"),
    row(
        "There are `key split",
        "FUNCTIONS::test_threefry_has_its_published_answers FUNCTIONS::test_on_cpu",
        "ROWS::test_random_numbers_are_those_of_plain_python",
    ),
    row("| mode", "PRECISION::test_options"),
    row('| `"numpy"`', "PRECISION::test_a_block_ends_where_it_ends", "ROWS::test_precision"),
    row('| `"strict"`', "kernels/test_strict.py::test_sums_along_rows", "ROWS::test_precision"),
    row(
        '| `"mixed"`',
        "PRECISION::test_mixed_rounds_the_factors_alone PRECISION::test_attention_as_printed "
        "PRECISION::test_a_product_that_is_converted_at_once_keeps_its_sum",
        "ROWS::test_precision PAGE",
    ),
    row(
        '| `"auto"`',
        "PRECISION::test_auto_keeps_its_bound PRECISION::test_auto_reports_its_choices "
        "PRECISION::test_auto_leaves_other_operations_as_they_are",
        "ROWS::test_precision",
    ),
    row(
        "`with asc.precision(mode):`",
        "PRECISION::test_a_block_ends_where_it_ends PRECISION::test_a_strict_block_keeps_the_order",
        "ROWS::test_precision",
    ),
    row(
        "`asc.parallel_for` counts",
        "FUNCTIONS::test_on_cpu unit/test_threads.py::test_a_loop_is_complete_before_the_next_begins",
        "ROWS::test_parallel_loops_and_buffers",
    ),
    row(
        "`continue` is allowed",
        "DIAGNOSTICS::test_jumps_out_of_a_parallel_loop",
        "ROWS::test_parallel_loops_and_buffers",
    ),
    row(
        "Two iterations that write",
        "unit/test_check_parallel.py::test_certain_conflicts_are_refused_with_both_places "
        "DEBUG::test_two_writers_of_one_element",
    ),
    row(
        "A sum over iterations",
        "kernels/test_reductions.py::test_histogram",
        "ROWS::test_parallel_loops_and_buffers",
    ),
    row(
        "Matrix products and loops",
        "OPTIONS::test_remarks_name_the_unit_of_a_line",
        "OPTIONS::test_remarks_name_the_unit_of_a_line "
        "kernels/test_cube.py::test_products_are_one_launch_without_remarks",
    ),
    row(
        "`asc.shared_memory(shape",
        "ROWS::test_parallel_loops_and_buffers",
        "ROWS::test_parallel_loops_and_buffers",
    ),
    row(
        "What an iteration of a parallel loop",
        "DEBUG::test_own_elements_buffers_and_sums_are_no_races",
        "ROWS::test_parallel_loops_and_buffers",
    ),
    row("A buffer that only holds", "OPTIONS::test_a_buffer_that_only_holds_a_copy_is_a_hint"),
    row("Buffers that a kernel fills", "OPTIONS::test_buffers_that_do_not_fit_say_how_many_bytes_there_are"),
    row(
        "With `debug=True` there are",
        "DEBUG::test_a_failed_assertion_shows_line_place_and_values DEBUG::test_prints "
        "DEBUG::test_an_index_shows_its_place "
        "DEBUG::test_overflow_of_ints DEBUG::test_reading_what_was_never_written",
        "DEBUG::test_prints_between_loops DEBUG::test_the_model_prints_through_the_devices_print_buffer",
    ),
    row(
        "With `watch=",
        "DEBUG::test_the_first_nan_and_the_first_infinity",
        "DEBUG::test_the_first_nan_and_the_first_infinity",
    ),
    row(
        "A failure is the Python exception",
        "DEBUG::test_a_failed_assertion_shows_line_place_and_values",
        "DEBUG::test_failures_on_the_model",
    ),
    row("Without it these statements", "DEBUG::test_without_debug_nothing_is_checked"),
    row("`asc.breakpoint()` stops", "unit/test_frontend_language.py::test_debug_statements_act_at_once"),
    row("A mistake in a kernel", "unit/test_diagnostics.py::test_the_code_decides_the_class CORPUS"),
    row(
        "`KernelTypeError`, `ShapeError`",
        "DIAGNOSTICS::test_several_errors_at_once_and_each_name_blamed_once CORPUS",
    ),
    row(
        "A mistake in a call",
        "LAUNCHER::test_arguments_that_do_not_bind SIZES::test_a_failed_launch_leaves_arrays_untouched",
    ),
    row(
        "`pyasc check FILE`",
        "integration/test_cli_check.py::test_text integration/test_cli_check.py::test_sarif",
    ),
)


def sentences(text: str) -> Iterator[tuple[str, str]]:
    """The section and the text of every sentence and table row of a page, code left out."""
    section = ""
    for block in re.split(r"\n\s*\n", re.sub(r"^```.*?^```$", "\n", text, flags=re.MULTILINE | re.DOTALL)):
        lines = [line.strip() for line in block.strip().splitlines()]
        for line in [each for each in lines if each.startswith("#")]:
            section = line.lstrip("# ")
        rows = [each for each in lines if each.startswith("|") and set(each) - set("|-: ")]
        yield from ((section, each) for each in rows)
        prose = " ".join(each for each in lines if each and each[0] not in "#|")
        parts = re.split(r"(?<=[.:])\s+(?=[A-Z`@])", prose) if prose else []
        yield from ((section, part) for part in parts)


def rows_of(sentence: str) -> list[Row]:
    """The rows of the table whose beginning a sentence has."""
    plain = " ".join(sentence.split())
    return [each for each in ROWS if plain.startswith(" ".join(each.start.split()))]


def page() -> str:
    """The text of docs/language-tests.md."""
    lines = [
        "# Tests of the language page",
        "",
        "Each sentence of [language.md](language.md) with tests that hold it on the `cpu`, or before any",
        "device has a part in it, and on the `model`. Made from `tests/kernels/language_sentences.py` by",
        "`make docs`; a sentence without a test fails",
        "`tests/kernels/test_language_page.py`.",
    ]
    section = ""
    for number, (here, sentence) in enumerate(sentences(PAGE.read_text(encoding="utf-8")), 1):
        if here != section:
            lines += ["", f"## {here}", "", "| | sentence | cpu | model |", "| --- | --- | --- | --- |"]
            section = here
        (found,) = rows_of(sentence)
        text = re.sub(r"\]\([^)]*\)", "]", sentence.strip("| ")).replace("|", "·")
        lines.append(f"| {number} | {text} | {_listed(found.cpu)} | {_listed(found.model)} |")
    return "\n".join(lines) + "\n"


def _listed(tests: tuple[str, ...]) -> str:
    return "-" if tests == (HOST,) else "<br>".join(f"`{each}`" for each in tests)
