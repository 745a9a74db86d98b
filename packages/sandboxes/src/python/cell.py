# Runs pieces of code one after the other in one namespace, as a notebook does. Every sandbox program begins with this
# file.
import ast
import linecache
import sys
import traceback

CODE = "<code>"


def run_cell(source, namespace):
    """Runs the code, prints the value of its last expression and returns its exit code."""
    linecache.cache[CODE] = (len(source), None, source.splitlines(True), CODE)
    try:
        tree = ast.parse(source, CODE)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, CODE, "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), CODE, "eval"), namespace)
            if value is not None:
                print(repr(value))
        return 0
    except SystemExit as stop:
        return exit_code(stop.code)
    except BaseException as error:
        show(error)
        return 1


def exit_code(code):
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 255
    print(code, file=sys.stderr)
    return 1


def show(error):
    """Prints the traceback without the frames outside the executed code."""
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename != CODE:
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace)
    # The frames would keep their variables alive.
    error.__traceback__ = None
