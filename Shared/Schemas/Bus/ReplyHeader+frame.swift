package import JSON

/// A reply's header as a frame.
extension ReplyHeader {
    /// Appends the header as a frame: the bytes that ``JSONCoder`` would write, without its cost.
    package func append(to json: inout JSONBytes) {
        json.append("{\"id\":")
        json.append(text: id)
        if status == .ok {
            json.append(",\"status\":\"ok\"}")
        } else {
            json.append(",\"status\":")
            json.append(text: status.rawValue)
            json.append("}")
        }
    }
}
