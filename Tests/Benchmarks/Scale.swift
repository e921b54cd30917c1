/// How much a benchmark does: all of it, or only what shows that it still works.
///
/// `Tests/Benchmarks/run --smoke` is part of `deploy/test`.
enum Scale {
    case full
    /// Just enough to end with an error if the benchmark no longer works. The figures mean nothing.
    case smoke

    /// A parameter of a benchmark at this scale.
    func pick<Value>(_ full: Value, smoke: Value) -> Value {
        switch self {
        case .full: full
        case .smoke: smoke
        }
    }
}
