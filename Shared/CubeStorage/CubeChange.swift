/// The result of a change, the growth of the cube in bytes, which is negative if the cube has shrunk, and the records of the change
/// for the audit log.
struct CubeChange<Value> {
    let value: Value
    let growth: Int64
    let records: [CubeRecord]
}
