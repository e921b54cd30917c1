import Bus
import HTTPTypes
import Schemas

/// `GET /study`: what apps have to know of study sessions before they show any.
struct StudyInformationRoutes: Feature {
    let study: CommandClient
    let map: StudyMap

    var section: APISection {
        APISection("Limits of study", "The limits that the operator has set, and what a map shows.")
    }

    var routes: [Route] {
        [
            Route(.get, "/study", right: .person, answer: .ok(StudyInformation.self)) { call in
                let rules = try await study.request(ReadStudyRules(), for: call)
                return Answer(StudyInformation(rules: rules, map: map))
            }.documented(
                "Read the limits of study sessions",
                "`map` has the address of the pictures of a map (`tiles`), if the operator names one, with what its licence "
                    + "demands on the map (`attribution`); the path of the folder with `leaflet.min.js` and `leaflet.css` "
                    + "(`leaflet`), if they are installed; and the path of the campus's plan (`plan`), for a map without "
                    + "pictures.")
        ]
    }
}

/// The answer of `GET /study`.
struct StudyInformation: Codable, Sendable {
    let rules: StudyRules
    let map: StudyMap
}

/// What the map of study sessions is made of.
struct StudyMap: Codable, Sendable {
    /// An `https` address with `{z}`, `{x}` and `{y}`; absent for none.
    let tiles: String?
    let attribution: String?
    /// The path of the folder of Leaflet's files, with a slash at its end; absent if they are not installed.
    let leaflet: String?
    /// The path of the campus's plan.
    let plan: String
}
