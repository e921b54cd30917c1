import JSON

/// What a portal sends to make or replace a channel or an area: `{"name": …, "desc": …}` (seed, "REST API", Area; the
/// seed leaves out how a channel comes to be, so it is made in the same way).
package struct NamedDraft: Codable, Hashable, Sendable {
    package var name: String
    package var desc: String

    package init(name: String, desc: String) {
        self.name = name
        self.desc = desc
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, desc
    }

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        name = try fields.text(.name, .name)
        desc = try fields.text(.desc, .description)
    }
}

/// What a portal sends to make or replace a subject (seed, "REST API", Subject).
package struct SubjectDraft: Codable, Hashable, Sendable {
    package var name: String
    package var desc: String
    package var opt: SubjectOptions

    package init(name: String, desc: String, opt: SubjectOptions) {
        self.name = name
        self.desc = desc
        self.opt = opt
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, desc, opt
    }

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        name = try fields.text(.name, .name)
        desc = try fields.text(.desc, .description)
        opt = try fields.value(.opt)
    }
}
