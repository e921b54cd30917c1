/// What a change has made, and by how many bytes the cube's size has grown; negative where the cube is smaller now.
struct CubeChange<Value> {
    let value: Value
    let growth: Int64
}
