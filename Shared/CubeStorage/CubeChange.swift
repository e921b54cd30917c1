/// The result of a change, and the growth of the cube in bytes; negative if the cube has shrunk.
struct CubeChange<Value> {
    let value: Value
    let growth: Int64
}
