import JSON

/// A portal's document to create or replace a channel or an area: `{"name": …, "desc": …}` (seed, "REST API", Area; the seed does
/// not define the creation of a channel, so it has the same form).
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

/// A portal's document to create or replace a subject (seed, "REST API", Subject).
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
