package import JSON

extension JSONValue {
    /// The elements of an array; none of anything else.
    package var array: [JSONValue] { elements ?? [] }

    /// The names of an object's fields, sorted; none of anything else.
    package var names: [String] { members?.map(\.name).sorted() ?? [] }
}
